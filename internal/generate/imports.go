package generate

import (
	"bytes"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// imports are the packages that a generated file may mention, and their names in it. Jennifer imports those that it
// does mention.
type imports struct {
	packages map[string]string // names in their package clauses, by path
	names    map[string]string // chosen names, by path
}

// known are the packages that decorators need of themselves.
var known = map[string]string{
	runtimePath:   "ratelimit",
	httplimitPath: "httplimit",
	"context":     "context",
	"time":        "time",
}

func newImports() *imports {
	return &imports{packages: maps.Clone(known), names: map[string]string{}}
}

// need notes that the file mentions these packages.
func (im *imports) need(pkgs map[string]*types.Package) {
	for _, pkg := range pkgs {
		im.packages[pkg.Path()] = pkg.Name()
	}
}

// nameImports chooses the names of imports: that which the source file has for it, or else that of the package. An import
// may not be called like anything else in the target, nor like a parameter of a method whose body needs the import.
func (b *builder) nameImports(decorators []*decorator) {
	taken := union(predeclared, b.packageNames(), scope{"next": true, "limiter": true})
	params := map[string]scope{} // by the path of the import that may not be called so
	for _, d := range decorators {
		taken.add(d.typeParams...)
		for _, m := range d.methods {
			for _, path := range m.imports() {
				params[path] = union(params[path], m.userNames())
			}
		}
	}
	own := b.sourceNames()
	name := func(path string) {
		candidates := append([]string{b.imports.packages[path]}, aliases(path, b.imports.packages[path])...)
		if own[path] != "" {
			candidates = slices.Insert(candidates, 0, own[path])
		}
		candidates = slices.DeleteFunc(candidates, unimportable)
		b.imports.names[path] = union(taken, params[path]).pick(candidates...)
		taken.add(b.imports.names[path])
	}

	// What others call their packages goes before what we call ours.
	var first, second, last []string
	for _, path := range slices.Sorted(maps.Keys(b.imports.packages)) {
		switch {
		case own[path] != "":
			first = append(first, path)
		case path == runtimePath || path == httplimitPath:
			last = append(last, path)
		default:
			second = append(second, path)
		}
	}
	for _, path := range slices.Concat(first, second, last) {
		name(path)
	}
}

// unimportable reports whether no import can have the name: the language keeps init, and main in commands, for functions,
// and jennifer would take another one for a word it holds to be reserved.
func unimportable(name string) bool {
	return name == "init" || name == "main" || jen.IsReservedWord(name)
}

// packageNames are the names at the level of the target, those of its generated files included.
func (b *builder) packageNames() scope {
	names := scope{}
	for name := range b.target.Names {
		names.add(name)
	}
	for _, file := range b.target.Sources() {
		for _, iface := range file.Interfaces {
			names.add(decoratorNames(iface.Name))
		}
	}
	return names
}

// sourceNames are the names that the source file gives to its imports, by path.
func (b *builder) sourceNames() map[string]string {
	names := map[string]string{}
	for _, spec := range b.source.Syntax.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err == nil && names[path] == "" && spec.Name != nil && spec.Name.Name != "." && spec.Name.Name != "_" {
			names[path] = spec.Name.Name
		}
	}
	return names
}

// aliases returns what to call a package whose own name is taken: appsv1 for the package v1 in k8s.io/api/apps/v1, and
// stdtime for time. The last one can be imported whatever the package is called.
func aliases(importPath, name string) []string {
	switch {
	case importPath == runtimePath:
		return []string{"ratelimitgen"}
	case importPath == httplimitPath:
		return []string{"ratelimithttp"}
	case isStandard(importPath):
		return []string{"std" + name}
	}
	parent := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, path.Base(path.Dir(importPath)))
	return []string{parent + name, name + parent, name + "pkg"}
}

// isStandard reports whether a path is of the standard library, as goimports does: others begin with a domain.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// declare tells jennifer the names. One goes without saying if it is the package's own, and what a reader expects.
func (im *imports) declare(code *jen.File) {
	for path, name := range im.names {
		if name == im.packages[path] && name == assumedName(path) {
			code.ImportName(path, name)
		} else {
			code.ImportAlias(path, name)
		}
	}
}

// text returns code as it is in the file, on one line.
func (b *builder) text(code *jen.Statement) string {
	file := jen.NewFilePathName(b.target.Types.Path(), "_")
	b.imports.declare(file)
	var text bytes.Buffer
	if err := code.RenderWithFile(&text, file); err != nil {
		return "" // it will be found when the file is formatted
	}
	return text.String()
}

// assumedName returns the name that a reader takes an import to have without an explicit one. The rule is that of
// goimports, which adds the name where it differs.
func assumedName(importPath string) string {
	base := path.Base(importPath)
	if number, ok := strings.CutPrefix(base, "v"); ok && path.Dir(importPath) != "." {
		if _, err := strconv.Atoi(number); err == nil {
			base = path.Base(path.Dir(importPath))
		}
	}
	base = strings.TrimPrefix(base, "go-")
	if i := strings.IndexFunc(base, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }); i >= 0 {
		base = base[:i]
	}
	return base
}
