package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

const (
	generateLine  = "//go:generate go tool ratelimitgen"
	directiveMark = "//ratelimit:"
	// exampleLine is a limit that few methods exceed by chance.
	exampleLine = directiveMark + "rate=100/s"
)

// sourceFile is a file of a package that init adds to.
type sourceFile struct {
	path    string
	content []byte
	syntax  *ast.File
	fset    *token.FileSet
}

// candidate is a method above which an example may stand.
type candidate struct {
	file     *sourceFile
	iface    string
	method   *ast.Field
	hasCtx   bool // whether it begins with a context, which limits by caller need
	exported bool
}

// startPackage returns the change of a source file that adds the go:generate line and an example of a directive, whichever the
// package lacks, and a line for each.
func startPackage(pkg listed) (*change, []string, error) {
	files, err := readPackage(pkg)
	if err != nil {
		return nil, nil, err
	}
	generates := slices.ContainsFunc(files, func(f *sourceFile) bool {
		return f.hasComment(func(c string) bool {
			return strings.HasPrefix(c, "//go:generate") && strings.Contains(c, "ratelimitgen")
		})
	})
	var f *sourceFile // the one with directives
	if i := slices.IndexFunc(files, func(f *sourceFile) bool {
		return f.hasComment(func(c string) bool { return strings.HasPrefix(c, directiveMark) })
	}); i >= 0 {
		f = files[i]
	}
	var edits []edit
	var done []string
	if f == nil {
		c, err := example(pkg, files)
		if err != nil {
			return nil, nil, err
		}
		f = c.file
		edits = append(edits, c.edit())
		done = append(done, fmt.Sprintf("%s: %s above %s.%s", f.path, exampleLine, c.iface, c.method.Names[0].Name))
	}
	if !generates {
		edits = append(edits, f.generateEdit())
		done = append([]string{f.path + ": " + generateLine}, done...)
	}
	if len(edits) == 0 {
		return nil, nil, nil
	}
	return &change{path: f.path, old: f.content, new: apply(f.content, edits)}, done, nil
}

// readPackage reads the files of a package that are nobody's output. The error is [parse.Diagnostics] if they do not parse, or
// have mistakes in their directives: a comment that was meant as one is not to get a second limit beside it.
func readPackage(pkg listed) ([]*sourceFile, error) {
	var files []*sourceFile
	var mistakes parse.Diagnostics
	for _, name := range slices.Sorted(slices.Values(slices.Concat(pkg.GoFiles, pkg.CgoFiles))) {
		f := &sourceFile{path: filepath.Join(pkg.Dir, name), fset: token.NewFileSet()}
		var err error
		if f.content, err = os.ReadFile(f.path); err != nil {
			return nil, err
		}
		f.syntax, err = parser.ParseFile(f.fset, f.path, f.content, parser.ParseComments|parser.SkipObjectResolution)
		var wrong scanner.ErrorList
		switch {
		case errors.As(err, &wrong):
			for _, e := range wrong {
				mistakes = append(mistakes, parse.Diagnostic{Pos: e.Pos, Message: e.Msg})
			}
		case err != nil:
			return nil, err
		case !ast.IsGenerated(f.syntax):
			files = append(files, f)
			mistakes = append(mistakes, parse.Mistakes(f.fset, f.syntax, f.content)...)
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no Go files but generated ones: want one with an interface", pkg.ImportPath)
	}
	return files, nil
}

func (f *sourceFile) hasComment(is func(text string) bool) bool {
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			if is(c.Text) {
				return true
			}
		}
	}
	return false
}

// example returns the method for the example: an exported one with a context if there is one, and else the first.
func example(pkg listed, files []*sourceFile) (candidate, error) {
	var all []candidate
	for _, f := range files {
		for _, decl := range f.syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					all = append(all, f.candidates(spec)...)
				}
			}
		}
	}
	if len(all) == 0 {
		return candidate{}, fmt.Errorf("%s has no interface with a method that a limit could refuse: want one on a line of its own "+
			"whose last result is an error, or one that is an HTTP handler", pkg.ImportPath)
	}
	worth := func(c candidate) int {
		switch {
		case c.exported && c.hasCtx:
			return 0
		case c.exported:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(worth(a), worth(b)) })
	return all[0], nil
}

// candidates returns the methods of an interface that can refuse, as far as the syntax tells.
func (f *sourceFile) candidates(spec *ast.TypeSpec) []candidate {
	iface, ok := spec.Type.(*ast.InterfaceType)
	if !ok || isConstraint(iface) {
		return nil
	}
	var found []candidate
	for _, m := range iface.Methods.List {
		fn, ok := m.Type.(*ast.FuncType)
		if !ok || len(m.Names) != 1 || !canRefuse(fn) || f.indent(m) == nil {
			continue
		}
		params := typesOf(fn.Params)
		found = append(found, candidate{
			file: f, iface: spec.Name.Name, method: m,
			hasCtx:   len(params) > 0 && (params[0] == "context.Context" || strings.HasSuffix(params[len(params)-1], "http.Request")),
			exported: spec.Name.IsExported() && m.Names[0].IsExported(),
		})
	}
	return found
}

// isConstraint reports whether an interface has elements that are no interfaces, as far as the syntax tells.
func isConstraint(iface *ast.InterfaceType) bool {
	return slices.ContainsFunc(iface.Methods.List, func(m *ast.Field) bool {
		switch m.Type.(type) {
		case *ast.UnaryExpr, *ast.BinaryExpr:
			return true
		}
		return false
	})
}

// canRefuse reports whether a method has a way to tell of a refusal.
func canRefuse(fn *ast.FuncType) bool {
	results := typesOf(fn.Results)
	if len(results) > 0 && results[len(results)-1] == "error" {
		return true
	}
	params := typesOf(fn.Params)
	return len(results) == 0 && len(params) == 2 && params[0] == "http.ResponseWriter" && params[1] == "*http.Request"
}

// typesOf returns the types in a list as they are written, one for each parameter or result.
func typesOf(list *ast.FieldList) []string {
	if list == nil {
		return nil
	}
	var types []string
	for _, field := range list.List {
		for range max(len(field.Names), 1) {
			types = append(types, typeText(field.Type))
		}
	}
	return types
}

// typeText returns how the types are written that matter here, and nothing for others.
func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + typeText(e.X)
	case *ast.SelectorExpr:
		return typeText(e.X) + "." + e.Sel.Name
	}
	return ""
}

// indent returns the white space before a method, or nil if something else is before it on its line.
func (f *sourceFile) indent(m *ast.Field) []byte {
	at := f.fset.Position(m.Names[0].Pos())
	before := f.content[at.Offset-(at.Column-1) : at.Offset]
	if len(before) == 0 || len(bytes.TrimSpace(before)) > 0 {
		return nil
	}
	return before
}

// edit is a text that goes into a file at an offset.
type edit struct {
	offset int
	text   string
}

// apply returns a file with the edits in it.
func apply(content []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.offset, a.offset) })
	for _, e := range edits {
		content = slices.Insert(slices.Clone(content), e.offset, []byte(e.text)...)
	}
	return content
}

// edit puts the example above the method, as the last line of its documentation.
func (c candidate) edit() edit {
	indent, end := string(c.file.indent(c.method)), c.file.lineEnd()
	text := indent + exampleLine + end
	if c.method.Doc != nil {
		text = indent + "//" + end + text
	}
	return edit{c.file.fset.Position(c.method.Names[0].Pos()).Offset - len(indent), text}
}

// generateEdit puts the go:generate line below the imports.
func (f *sourceFile) generateEdit() edit {
	last := f.syntax.Name.End()
	for _, decl := range f.syntax.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			last = gen.End()
		}
	}
	end := f.lineEnd()
	offset := f.fset.Position(last).Offset
	line := bytes.IndexByte(f.content[offset:], '\n')
	if line < 0 {
		return edit{len(f.content), end + end + generateLine + end}
	}
	offset += line + 1
	text := end + generateLine + end
	if !bytes.HasPrefix(f.content[offset:], []byte(end)) {
		text += end
	}
	return edit{offset, text}
}

// lineEnd returns how the lines of the file end.
func (f *sourceFile) lineEnd() string {
	if bytes.Contains(f.content, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
