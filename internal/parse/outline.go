package parse

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"

	"golang.org/x/tools/go/packages"
)

// outline is a file of which declarations are parsed one by one, when something needs them.
type outline struct {
	*source
	pkg    *packages.Package
	file   *sourceFile
	pieces []*piece // in the order of the file
}

// imported returns the package that a name of an import means in the file, or nil.
func (o *outline) imported(name string) *packages.Package {
	if spec := o.file.imports[name]; spec != nil && name != "." && name != "_" {
		return o.pkg.Imports[pathOf(spec)]
	}
	return nil
}

// dots returns the packages that the file imports with a dot.
func (o *outline) dots() []*packages.Package {
	if o.file.imports["."] == nil {
		return nil
	}
	var dots []*packages.Package
	for _, spec := range o.file.syntax.Imports {
		if imported := o.pkg.Imports[pathOf(spec)]; imported != nil && spec.Name != nil && spec.Name.Name == "." {
			dots = append(dots, imported)
		}
	}
	return dots
}

// piece is a declaration of a file. One of a group may have many units.
type piece struct {
	*outline
	span
	names    []string // that it may declare
	receiver string   // of a method, the name of its type
	units    []*unit
	named    map[string][]*unit // by what they do declare; nil until the piece is parsed
}

// outline returns the outline of a file of the package. All of the file is parsed at once if it is the user's, or cannot be
// divided, or if nearly all will be needed.
func (s *source) outline(p *packages.Package, path string) *outline {
	o := &outline{source: s, pkg: p, file: s.read(p, path)}
	if o.file.ours || !s.demand.sparse || !o.split() {
		s.parse(p, path)
		o.pieces = nil
		for _, decl := range o.file.syntax.Decls {
			o.add(decl)
		}
	}
	return o
}

// split divides the file into pieces, and reports whether that can be done.
func (o *outline) split() bool {
	spans, ok := split(o.file.src)
	if !ok || o.file.readErr != nil {
		return false
	}
	for _, span := range spans {
		switch span.tok {
		case token.PACKAGE:
		case token.IMPORT:
			if len(o.pieces) > 0 {
				return false
			}
		default:
			names, receiver, ok := span.names(o.file.src)
			if !ok {
				return false
			}
			o.pieces = append(o.pieces, &piece{outline: o, span: span, names: names, receiver: receiver})
		}
	}
	return true
}

// header parses the imports of a file that has been divided. Whatever of it is parsed is where it would be if all of it were.
func (o *outline) header() {
	f := o.file
	f.parseOnce.Do(func() {
		f.place = o.fset.AddFile(f.path, -1, len(f.src))
		f.place.SetLines(lineStarts(f.src))
		f.syntax, f.parseErr = parseAt(f.place.Base(), f.path, f.src, parser.ImportsOnly)
		f.indexImports(o.pkg)
	})
}

// parse parses the piece, and reports whether that is what it seems to be.
func (p *piece) parse() bool {
	if p.named != nil {
		return true
	}
	const clause = "package _;"
	p.header()
	if p.file.parseErr != nil {
		return false
	}
	text := slices.Concat([]byte(clause), p.file.src[p.start:p.body])
	file, err := parseAt(p.file.place.Base()+p.start-len(clause), p.file.path, text, 0)
	if err != nil || len(file.Decls) != 1 {
		return false
	}
	decl := file.Decls[0]
	if function, ok := decl.(*ast.FuncDecl); ok && p.body < p.end {
		function.Body = &ast.BlockStmt{Lbrace: p.file.place.Pos(p.body), Rbrace: p.file.place.Pos(p.end)}
	}
	p.divide(pruneDecl(decl))
	return true
}

// parseAt parses a source as if it stood at that place in a file set.
func parseAt(base int, path string, src []byte, mode parser.Mode) (*ast.File, error) {
	fset := token.NewFileSet()
	fset.AddFile("", base-1, 0)
	return parser.ParseFile(fset, path, src, mode|parser.SkipObjectResolution)
}

// lineStarts returns where the lines of a source start.
func lineStarts(src []byte) []int {
	starts := make([]int, 1, 1+bytes.Count(src, []byte("\n")))
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 || at+i+1 == len(src) {
			return starts
		}
		at += i + 1
		starts = append(starts, at)
	}
}
