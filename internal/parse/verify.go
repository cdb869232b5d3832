package parse

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Verify type-checks files that are generated for [Package.Sources], together with the package and in memory. It
// returns the errors in them. They must have been parsed into the package's Fset.
//
// Stubs are sources by import path: they stand for packages that generated files import and the package does not depend
// on, so that nothing more is loaded. A stub declares what generated files use and no more.
//
// Errors that something else may be to blame for are not returned. But for names that are taken, there are none if the
// package itself or one that it depends on has errors or imports C, if a generated file imports what is neither known nor
// a stub, or if the package depends on a version of a stub's package that lacks something.
func (p *Package) Verify(generated map[*File]*ast.File, stubs map[string]string) []types.Error {
	if len(generated) == 0 {
		return nil // the package may not have been type-checked
	}
	v := &verification{
		source:  p.source,
		checked: p.checked,
		sources: stubs,
		stubs:   make(map[string]*types.Package),
		needed:  make(map[string]*types.Package),
		unclear: usesC(p.checked),
	}
	files := slices.DeleteFunc(p.Sources(), func(f *File) bool { return generated[f] == nil }) // in order
	for _, f := range files {
		v.generated = append(v.generated, generated[f])
	}
	v.depend(p.checked)
	for _, f := range files {
		if f.Package != p {
			v.dependOn(v.listed.asImported(f.Package.checked.pkg))
		}
	}
	if !v.canImport() {
		return nil
	}
	for _, f := range files {
		v.checkNames(f, generated[f])
	}
	if v.unclear || len(v.errs) > 0 {
		return v.errs
	}
	conf := types.Config{FakeImportC: true, Sizes: v.sizes, Importer: v, Error: v.note}
	// The generated files come first: what the package declares once more, such as a method of a decorator, is then an error
	// where the package does so.
	_, _ = conf.Check(p.Types.Path(), v.fset, slices.Concat(v.generated, syntaxOf(p.checked.files)), nil) // see note
	if v.unclear || len(v.errs) > 0 && !v.haveStubs() {
		return nil
	}
	return v.errs
}

// verification is one type check of generated files.
type verification struct {
	*source
	checked   *checkedPackage
	generated []*ast.File
	sources   map[string]string         // of stubs, by path
	stubs     map[string]*types.Package // those that were needed so far
	needed    map[string]*types.Package // that declarations of the package depend on, however indirectly
	errs      []types.Error             // in generated files
	unclear   bool                      // there are other errors, or may be
}

// checkNames reports names that a generated file declares or imports and must not, be it for another build. The type
// checker would report them where the package has the same name.
func (v *verification) checkNames(f *File, generated *ast.File) {
	names := make(map[string]token.Pos)
	declared(generated, names)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if _, taken := f.Taken(name); taken {
			v.taken(name, names[name])
		}
	}
	for _, spec := range generated.Imports {
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name
		} else if pkg, err := v.Import(pathOf(spec)); err == nil {
			name = pkg.Name()
		}
		if _, taken := f.Target().Names[name]; taken {
			v.taken(name, spec.Pos())
		}
	}
}

func (v *verification) taken(name string, pos token.Pos) {
	v.errs = append(v.errs, types.Error{Fset: v.fset, Pos: pos, Msg: name + " is declared by the package"})
}

// depend finds out what the declarations of a package depend on. All of it has been checked before.
func (v *verification) depend(c *checkedPackage) {
	for _, p := range c.needs {
		v.dependOn(p)
	}
}

func (v *verification) dependOn(p *packages.Package) {
	if _, seen := v.needed[p.PkgPath]; seen {
		return
	}
	needed := v.check(p)
	v.needed[p.PkgPath] = needed.types
	v.unclear = v.unclear || needed.failed || p.Module != nil && usesC(needed)
	v.depend(needed)
}

// canImport reports whether the imports of the generated files are known.
func (v *verification) canImport() bool {
	for _, f := range v.generated {
		for _, spec := range f.Imports {
			path := pathOf(spec)
			if _, isStub := v.sources[path]; !isStub && v.needed[path] == nil && path != "unsafe" {
				return false
			}
		}
	}
	return true
}

// Import returns a package that declarations depend on, or its stub. What only function bodies use is not looked at.
func (v *verification) Import(path string) (*types.Package, error) {
	if pkg := v.needed[path]; pkg != nil {
		return pkg, nil
	}
	if _, isStub := v.sources[path]; isStub {
		return v.stub(path)
	}
	return v.imported(v.checked.pkg, v.checked, path)
}

func (v *verification) stub(path string) (*types.Package, error) {
	if pkg := v.stubs[path]; pkg != nil {
		return pkg, nil
	}
	syntax, err := parser.ParseFile(v.fset, "", v.sources[path], parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	conf := types.Config{IgnoreFuncBodies: true, Sizes: v.sizes, Importer: v}
	pkg, err := conf.Check(path, v.fset, []*ast.File{syntax}, nil)
	v.stubs[path] = pkg
	return pkg, err
}

// note sorts an error.
func (v *verification) note(err error) {
	var typeErr types.Error
	switch errors.As(err, &typeErr); {
	case strings.HasPrefix(typeErr.Msg, "\t"): // goes on with the one before
	case v.isGenerated(typeErr.Pos):
		v.errs = append(v.errs, typeErr)
	case !typeErr.Soft: // soft ones are about what is not used: it may be, in function bodies
		v.unclear = true
	}
}

func (v *verification) isGenerated(pos token.Pos) bool {
	return slices.ContainsFunc(v.generated, func(f *ast.File) bool { return f.FileStart <= pos && pos <= f.FileEnd })
}

// haveStubs reports whether the packages that the stubs stand for have all that is in these.
func (v *verification) haveStubs() bool {
	for path := range v.sources {
		pkg := v.needed[path]
		if pkg == nil {
			continue
		}
		stub, err := v.stub(path)
		if err != nil || !covers(pkg.Scope(), stub.Scope()) {
			return false
		}
	}
	return true
}

// covers reports whether a package has the names of another one, fields and methods included.
func covers(pkg, stub *types.Scope) bool {
	for _, name := range stub.Names() {
		obj, wanted := pkg.Lookup(name), stub.Lookup(name)
		if obj == nil {
			return false
		}
		if _, ok := wanted.(*types.TypeName); ok && !coversMembers(obj, wanted) {
			return false
		}
	}
	return true
}

func coversMembers(obj, wanted types.Object) bool {
	has := func(name string) bool {
		found, _, _ := types.LookupFieldOrMethod(obj.Type(), true, obj.Pkg(), name)
		return found != nil
	}
	if t, ok := wanted.Type().Underlying().(*types.Struct); ok {
		for field := range t.Fields() {
			if !has(field.Name()) {
				return false
			}
		}
	}
	for selection := range types.NewMethodSet(types.NewPointer(wanted.Type())).Methods() {
		if !has(selection.Obj().Name()) {
			return false
		}
	}
	return true
}
