package parse

import (
	"go/ast"
	"go/build/constraint"
	"path/filepath"
	"slices"
	"strings"
)

// constraintOf returns the build constraint of a file: its //go:build line, and what its name and an import of C imply, which
// those of a generated file do not.
func constraintOf(path string, file *ast.File) string {
	expr := and(nameConstraint(path), lineConstraint(file))
	if importsC(file) {
		expr = and(expr, tag("cgo"))
	}
	if expr == nil {
		return ""
	}
	return expr.String()
}

// and returns the constraint that both hold. What one says already the other need not add.
func and(x, y constraint.Expr) constraint.Expr {
	switch {
	case x == nil || y != nil && says(y, x):
		return y
	case y == nil || says(x, y):
		return x
	}
	return &constraint.AndExpr{X: x, Y: y}
}

// says reports whether a constraint is another one, or that and more.
func says(x, y constraint.Expr) bool {
	if both, ok := x.(*constraint.AndExpr); ok && (says(both.X, y) || says(both.Y, y)) {
		return true
	}
	return x.String() == y.String()
}

// importsC reports whether cgo reads the file, without which it is in no build.
func importsC(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return pathOf(spec) == "C" })
}

// isForNoBuild reports whether the file is one that by convention no build has.
func isForNoBuild(file *ast.File) bool {
	expr := lineConstraint(file)
	return expr != nil && expr.String() == "ignore"
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
