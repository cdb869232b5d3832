package parse

import (
	"bytes"
	"go/ast"

	"golang.org/x/tools/go/packages"
)

// isWanted reports whether the package may have annotated interfaces: it has directives, or embeds an interface of
// another package of its module that has.
func (s *source) isWanted(p *packages.Package) bool {
	if wanted, ok := s.wanted[p]; ok {
		return wanted
	}
	wanted := s.isMarked(p) || s.embedsWanted(p)
	s.wanted[p] = wanted
	return wanted
}

// isMarked reports whether a file of the package may have directives.
func (s *source) isMarked(p *packages.Package) bool {
	for _, path := range p.GoFiles {
		if s.read(p, path).marked {
			return true
		}
	}
	return false
}

// embedsWanted reports whether an interface of the package embeds one of a wanted package of the module.
func (s *source) embedsWanted(p *packages.Package) bool {
	for _, imported := range p.Imports {
		if !isOurs(imported) || moduleOf(imported) != moduleOf(p) || !s.isWanted(imported) {
			continue
		}
		for _, path := range p.GoFiles {
			f := s.read(p, path)
			if f.generated || !bytes.Contains(f.src, []byte("interface")) || !bytes.Contains(f.src, []byte(imported.PkgPath)) {
				continue // parsing is what takes the time
			}
			if embedsFrom(p, s.parse(p, path), imported.PkgPath) {
				return true
			}
		}
	}
	return false
}

// embedsFrom reports whether an interface in a file of p embeds a type of the package with the path.
func embedsFrom(p *packages.Package, f *sourceFile, pkgPath string) bool {
	for _, spec := range f.syntax.Imports {
		if pathOf(spec) != pkgPath {
			continue
		}
		name, found := importName(p, spec), false
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if literal, ok := n.(*ast.InterfaceType); ok {
				for _, field := range literal.Methods.List {
					found = found || len(field.Names) == 0 && isFrom(name, field.Type)
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// isFrom reports whether a type expression may name a type of the import with the name.
func isFrom(name string, expr ast.Expr) bool {
	switch expr := ast.Unparen(expr).(type) {
	case *ast.IndexExpr:
		return isFrom(name, expr.X)
	case *ast.IndexListExpr:
		return isFrom(name, expr.X)
	case *ast.SelectorExpr:
		x, ok := expr.X.(*ast.Ident)
		return ok && x.Name == name
	case *ast.Ident:
		return name == "."
	}
	return false
}
