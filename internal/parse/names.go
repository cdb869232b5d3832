package parse

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/packages"
)

// name fills in the names of the package.
func (s *source) name(root *packages.Package, pkg *Package) {
	pkg.Names, pkg.FileNames = make(map[string]token.Pos), make(map[string]token.Pos)
	checked := s.check(root)
	for _, file := range checked.files {
		declared(file.syntax, pkg.Names)
		for _, spec := range file.syntax.Imports {
			s.importedNames(root, pkg, spec)
		}
	}

	// A name of this build and of another one has its position in this one.
	pkg.elsewhere = make(map[string]token.Pos)
	for _, path := range s.listed.ignored[root.Dir] {
		file := s.read(root, path)
		if file.generated || s.parse(root, path).syntax.Name.Name != pkg.Types.Name() || isForNoBuild(file.syntax) {
			continue
		}
		declared(file.syntax, pkg.elsewhere)
	}
	for name, pos := range pkg.elsewhere {
		if _, ok := pkg.Names[name]; ok {
			delete(pkg.elsewhere, name)
		} else {
			pkg.Names[name] = pos
		}
	}
}

// importedNames adds what an import of a file is called in it, or the names that a dot import brings.
func (s *source) importedNames(root *packages.Package, pkg *Package, spec *ast.ImportSpec) {
	names := []string{importName(root, spec)}
	if names[0] == "." {
		names = nil
		if imported := root.Imports[pathOf(spec)]; imported != nil {
			if types := s.check(imported).types; types != nil {
				names = slices.DeleteFunc(types.Scope().Names(), func(name string) bool { return !token.IsExported(name) })
			}
		}
	}
	for _, name := range names {
		if pos, ok := pkg.FileNames[name]; name != "_" && (!ok || spec.Pos() < pos) {
			pkg.FileNames[name] = spec.Pos()
		}
	}
}

// Taken reports whether a file that is generated for f must not declare name at package level, and where it is declared
// or imported. A name that only another build has is not taken if the file has a constraint, which may exclude that
// build.
func (f *File) Taken(name string) (token.Pos, bool) {
	target := f.Target()
	pos, taken := target.Names[name]
	if _, other := target.elsewhere[name]; other && f.Constraint != "" {
		taken = false
	}
	if !taken {
		pos, taken = target.FileNames[name]
	}
	return pos, taken
}

// declared adds the names that a file declares at package level to names.
func declared(file *ast.File, names map[string]token.Pos) {
	add := func(ident *ast.Ident) {
		if _, ok := names[ident.Name]; !ok && ident.Name != "_" {
			names[ident.Name] = ident.Pos()
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name != "init" {
				add(decl.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name)
					}
				}
			}
		}
	}
}
