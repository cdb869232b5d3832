package parse

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Parsed is a package that somebody else has listed, parsed and type-checked: a driver of analyzers, for which the go
// command need not be asked, and which may know files that are not saved yet.
type Parsed struct {
	Fset    *token.FileSet
	Files   []*ast.File    // with comments; they stay as they are
	Types   *types.Package // may be incomplete
	Info    *types.Info
	Sizes   types.Sizes
	Module  string   // path of its module; "" if unknown
	Ignored []string // its files that other builds have

	// ReadFile returns the content of one of Files or of Ignored.
	ReadFile func(path string) ([]byte, error)

	// Inherited are the lines on methods of the packages that it imports, however indirectly.
	Inherited []MethodLines
}

// LoadParsed is [Load] for one package that is parsed already. It returns the lines on its own methods, too, for the
// packages that import it. Of the type-checked package only the imports are used: it is checked anew without our own
// output, which may be stale, or be missing where something refers to it. What the parser has found wrong is left out.
func LoadParsed(p Parsed) (*Package, []MethodLines, error) {
	s := newSource(Config{}, &listing{})
	s.fset, s.sizes, s.parsed = p.Fset, p.Sizes, make(map[string]*ast.File)
	if p.ReadFile != nil {
		s.readFile = p.ReadFile
	}
	s.inherit(p.Inherited)
	root := p.root(s)
	pkg := &Package{Fset: s.fset, Dir: root.Dir, Module: p.Module}
	if !s.isWanted(root) {
		return pkg, nil, nil
	}
	mistakes := s.load(root, pkg)
	lines := s.methodLines(s.check(root))
	if len(mistakes) == 0 {
		return pkg, lines, nil
	}
	pkg.Mistaken = true
	mistakes.Sort()
	return pkg, lines, mistakes
}

// root makes the package one that is listed, with the files and imports that are at hand.
func (p *Parsed) root(s *source) *packages.Package {
	root := &packages.Package{
		PkgPath: plainPath(p.Types.Path()),
		Name:    p.Types.Name(),
		Module:  &packages.Module{Path: p.Module, Main: true, GoVersion: strings.TrimPrefix(p.Types.GoVersion(), "go")},
		Imports: make(map[string]*packages.Package),
	}
	for _, file := range p.Files {
		path, isOriginal := p.Original(file)
		if path == "" {
			continue
		}
		if isOriginal {
			s.parsed[path] = file
		}
		root.GoFiles = append(root.GoFiles, path)
		for _, spec := range file.Imports {
			if name := p.Info.PkgNameOf(spec); name != nil {
				imported := &packages.Package{PkgPath: name.Imported().Path(), Name: name.Imported().Name(), Types: name.Imported()}
				s.reaches[imported] = len(p.Inherited) > 0
				if root.Imports[pathOf(spec)] == nil {
					root.Imports[pathOf(spec)] = imported
				}
			}
		}
	}
	if len(root.GoFiles) > 0 {
		root.Dir = filepath.Dir(root.GoFiles[0])
	}
	for _, path := range p.Ignored {
		if filepath.Ext(path) == ".go" {
			s.listed.ignored = map[string][]string{root.Dir: append(s.listed.ignored[root.Dir], path)}
		}
	}
	return root
}

// Original returns the path of the user's file behind one of Files, and whether they are the same. Of what cgo writes some
// stands for a file of the user, whose name is in a line comment, and some for none, which gives "".
func (p *Parsed) Original(file *ast.File) (path string, same bool) {
	path = p.Fset.File(file.FileStart).Name()
	switch name := filepath.Base(path); {
	case name == "_cgo_gotypes.go", name == "_cgo_import.go":
		return "", false
	case strings.HasSuffix(name, ".cgo1.go"):
		return p.Fset.Position(file.Package).Filename, false
	}
	return path, true
}

// plainPath returns the path of a package, to which the go command may have added that it is compiled for a test.
func plainPath(path string) string {
	path, _, _ = strings.Cut(path, " ")
	return path
}
