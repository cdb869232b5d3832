package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// module is a module to be swept, with its interfaces.
type module struct {
	Path, Version string
	subjects      []*subject
}

// pattern is what the go command calls the packages of the module.
func (m *module) pattern() string {
	if m.Path == "std" {
		return m.Path
	}
	return m.Path + "/..."
}

// findInterfaces looks up the exported interfaces of the modules.
func (w *workspace) findInterfaces(ctx context.Context, modules []*module) error {
	owners := map[string]*module{} // of packages
	err := w.time("list packages", func() error {
		for _, m := range modules {
			paths, err := w.packages(ctx, m)
			if err != nil {
				return err
			}
			for _, path := range paths {
				owners[path] = m
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.time("compile packages", func() error {
		var paths []string
		for path := range owners {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedTypes, Context: ctx, Dir: w.dir, Env: w.env,
		}, paths...)
		if err != nil {
			return err
		}
		for _, p := range loaded {
			for _, err := range p.Errors {
				return err
			}
			m := owners[p.PkgPath]
			m.subjects = append(m.subjects, subjects(p.Types)...)
		}
		return nil
	})
}

// packages returns the packages of a module that others may import and that may have exported interfaces. Of the others,
// nothing is compiled.
func (w *workspace) packages(ctx context.Context, m *module) ([]string, error) {
	listed, err := command(ctx, w.dir, w.env, "go", "list", "-find", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Module", m.pattern())
	if err != nil {
		return nil, err
	}
	var paths []string
	for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			ImportPath, Name, Dir string
			GoFiles, CgoFiles     []string
			Module                *struct{ Path string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return paths, nil
		} else if err != nil {
			return nil, err
		}
		nested := p.Module != nil && p.Module.Path != m.Path // which the pattern means, too
		if p.Name == "main" || nested || !isImportable(p.ImportPath) {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			if mayDeclareInterface(file) {
				paths = append(paths, p.ImportPath)
				break
			}
		}
	}
}

// isImportable reports whether a module that the package does not belong to may import it.
func isImportable(path string) bool {
	elements := strings.Split(path, "/")
	return !slices.Contains(elements, "internal") && elements[0] != "vendor"
}

// mayDeclareInterface reports whether an exported type of the file may be an interface, or another name for one.
func mayDeclareInterface(file *ast.File) bool {
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
			for _, spec := range decl.Specs {
				spec := spec.(*ast.TypeSpec)
				if !spec.Name.IsExported() {
					continue
				}
				switch t := ast.Unparen(spec.Type).(type) {
				case *ast.InterfaceType, *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr:
					return true
				case *ast.Ident:
					if t.Name == "error" || types.Universe.Lookup(t.Name) == nil {
						return true
					}
				}
			}
		}
	}
	return false
}
