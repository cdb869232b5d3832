package parse

import (
	"go/ast"
	"go/build/constraint"
	"path/filepath"
	"strings"
)

// constraintOf returns the build constraint of a file: its //go:build line and what its name implies, which the name of
// a generated file does not.
func constraintOf(path string, file *ast.File) string {
	expr := and(nameConstraint(path), lineConstraint(file))
	if expr == nil {
		return ""
	}
	return expr.String()
}

func and(x, y constraint.Expr) constraint.Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return &constraint.AndExpr{X: x, Y: y}
}

// lineConstraint returns the //go:build line of a file, or else its // +build lines, which the go command still reads.
func lineConstraint(file *ast.File) constraint.Expr {
	var plus constraint.Expr
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if comment.Pos() > file.Package {
				return plus
			}
			switch {
			case constraint.IsGoBuild(comment.Text):
				expr, _ := constraint.Parse(comment.Text) // the go command has read it before
				return expr
			case constraint.IsPlusBuild(comment.Text) && group != file.Doc: // a blank line must follow
				if expr, err := constraint.Parse(comment.Text); err == nil {
					plus = and(plus, expr)
				}
			}
		}
	}
	return plus
}

// nameConstraint returns the constraint in a file name such as cache_linux_amd64_test.go: the rule of
// https://pkg.go.dev/go/build#Context.MatchFile.
func nameConstraint(path string) constraint.Expr {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	name = strings.TrimSuffix(name, "_test")
	_, name, ok := strings.Cut(name, "_") // the first element is never a constraint: linux.go is for all systems
	if !ok {
		return nil
	}
	words := strings.Split(name, "_")
	last := words[len(words)-1]
	switch {
	case len(words) > 1 && systems[words[len(words)-2]] && architectures[last]:
		return &constraint.AndExpr{X: tag(words[len(words)-2]), Y: tag(last)}
	case systems[last] || architectures[last]:
		return tag(last)
	}
	return nil
}

func tag(name string) constraint.Expr { return &constraint.TagExpr{Tag: name} }

// systems and architectures are the lists of internal/syslist in Go 1.26: past, present and future values, which a file
// name holds for whether or not this version of Go knows how to build for them.
var (
	systems = set("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris " +
		"wasip1 windows zos")
	architectures = set("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 " +
		"mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}
