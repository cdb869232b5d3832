package generate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestStubsAgreeWithPackages compares all that a stub declares with the package that it stands for.
func TestStubsAgreeWithPackages(t *testing.T) {
	const mode = packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile | packages.NeedTypes
	pkgs, err := packages.Load(&packages.Config{Mode: mode}, slices.Sorted(maps.Keys(Stubs))...)
	if err != nil {
		t.Fatal(err)
	}
	real := importedPackages{}
	for _, pkg := range pkgs {
		real[pkg.PkgPath] = pkg.Types
	}
	for path, source := range Stubs {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		stub, err := (&types.Config{Importer: real, IgnoreFuncBodies: true}).Check(path, fset, []*ast.File{file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range stub.Scope().Names() {
			want := declarationOf(stub.Scope().Lookup(name))
			obj := real[path].Scope().Lookup(name)
			if obj == nil {
				t.Errorf("%s has no %s", path, name)
				continue
			}
			has := declarationOf(obj)
			for fact, text := range want {
				if has[fact] != text {
					t.Errorf("%s.%s: %s is %q, and %q in the stub", path, name, fact, has[fact], text)
				}
			}
		}
	}
}

type importedPackages map[string]*types.Package

func (p importedPackages) Import(path string) (*types.Package, error) {
	if pkg := p[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

// declarationOf returns what a declaration says, by what that is about.
func declarationOf(obj types.Object) map[string]string {
	literals := strings.NewReplacer(
		"fmt.Stringer", "interface{String() string}",
		"encoding.TextMarshaler", "interface{MarshalText() (text []byte, err error)}",
	)
	text := func(t types.Type) string { return literals.Replace(types.TypeString(t, nil)) }
	all := map[string]string{"type": text(obj.Type())}
	switch obj := obj.(type) {
	case *types.Const:
		all["value"] = obj.Val().ExactString()
	case *types.TypeName:
		if t, ok := obj.Type().Underlying().(*types.Struct); ok {
			for field := range t.Fields() {
				all["field "+field.Name()] = text(field.Type())
			}
		} else {
			all["definition"] = text(obj.Type().Underlying())
		}
		for selection := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
			all["method "+selection.Obj().Name()] = text(selection.Type())
		}
	}
	return all
}
