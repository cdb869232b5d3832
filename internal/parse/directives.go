package parse

import (
	"errors"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

// directives are those of one file, by the declaration whose doc comment they stand in.
type directives struct {
	types    map[*ast.TypeSpec][]*line
	embedded map[*ast.Field][]*line
	methods  map[*ast.Field][]*line
	exprs    []ast.Expr
	loose    []token.Pos // of those that are attached to nothing
	diags    Diagnostics // mistakes in directives, and directives in other places
}

// line is one directive.
type line struct {
	*annotations.Annotation // nil if it has mistakes
	pos                     token.Pos
	text                    string
	src                     []byte // of the file, from pos on
	obstacles               []Obstacle
	nearMiss                bool // not read as a directive, which is the one thing to say about it wherever it stands
}

// at returns the position of the byte at offset in the line's comment.
func (l *line) at(offset int) token.Pos {
	return l.pos + token.Pos(rawOffset(l.src, offset))
}

// rawOffset returns where the byte at offset of a comment is in its source, from which the parser has removed the
// carriage returns.
func rawOffset(src []byte, offset int) int {
	raw := 0
	for ; raw < len(src); raw++ {
		if src[raw] == '\r' {
			continue
		}
		if offset == 0 {
			break
		}
		offset--
	}
	return raw
}

// belongs ends the message about a directive in a wrong place.
const belongs = "it belongs in the doc comment of an interface or of its method"

// place reads every comment of the file and finds out what the directives among them stand on.
func place(fset *token.FileSet, f *sourceFile) *directives {
	d := &directives{
		types:    make(map[*ast.TypeSpec][]*line),
		embedded: make(map[*ast.Field][]*line),
		methods:  make(map[*ast.Field][]*line),
	}
	owners := ownersOf(fset, f.syntax)
	for _, group := range f.syntax.Comments {
		for _, comment := range group.List {
			annotation, err := annotations.Parse(comment.Text)
			if annotation == nil && err == nil {
				continue
			}
			if annotation != nil {
				for expr := range annotation.Expressions() {
					d.exprs = append(d.exprs, expr.Syntax(token.NewFileSet()))
				}
			}
			l := &line{Annotation: annotation, pos: comment.Slash, text: comment.Text}
			l.src = f.src[min(fset.PositionFor(l.pos, false).Offset, len(f.src)):] // somebody else may have parsed an older file
			var mistakes annotations.Errors
			if errors.As(err, &mistakes) {
				for _, mistake := range mistakes {
					d.diags.add(fset, l.at(mistake.Offset), mistake.Message)
				}
			}
			l.nearMiss = isNearMiss(l.text, mistakes)
			d.attach(fset, l, owners.groups[group])
		}
	}
	return d
}

// Mistakes returns those in the directives of one file, as far as it shows them by itself. The syntax must have its comments.
func Mistakes(fset *token.FileSet, syntax *ast.File, src []byte) Diagnostics {
	return place(fset, &sourceFile{syntax: syntax, src: src}).diags
}

// isNearMiss reports whether a comment with mistakes is not read as a directive.
func isNearMiss(text string, mistakes annotations.Errors) bool {
	return len(mistakes) > 0 && (mistakes[0].Offset == 0 || strings.HasPrefix(text, "/*"))
}

// attach puts the line where its owner is looked up.
func (d *directives) attach(fset *token.FileSet, l *line, o owner) {
	if o.spec == nil && o.field == nil {
		d.loose = append(d.loose, l.pos)
	}
	switch {
	case (o.misplaced != "" || o == owner{}) && l.nearMiss:
	case o.misplaced != "":
		d.diags.add(fset, l.pos, o.misplaced)
	case o.spec != nil:
		d.types[o.spec] = append(d.types[o.spec], l)
	case o.field == nil:
		d.diags.add(fset, l.pos, "detached directive: "+belongs+", without a blank line between")
	case len(o.field.Names) > 0:
		d.methods[o.field] = append(d.methods[o.field], l)
	default:
		d.embedded[o.field] = append(d.embedded[o.field], l)
	}
}

// add appends a diagnostic at pos. The position is that in the file itself, whatever //line comments say: there the
// directive is to be mended.
func (ds *Diagnostics) add(fset *token.FileSet, pos token.Pos, message string) {
	*ds = append(*ds, Diagnostic{Pos: fset.PositionFor(pos, false), Message: InC(message)})
}

// owner is what a comment group belongs to: a type of the package, a method or embedded type of an interface, or else a
// place where no directive may stand, with the words to say so.
type owner struct {
	spec      *ast.TypeSpec
	field     *ast.Field
	misplaced string
}

// ownersOf returns the owners of the comment groups in the file. One that is missing is attached to nothing.
func ownersOf(fset *token.FileSet, file *ast.File) *owners {
	o := &owners{groups: make(map[*ast.CommentGroup]owner), docs: make(map[*ast.Field]*ast.CommentGroup)}
	o.findDocs(fset, file)
	o.misplace(file.Doc, "directive on a package clause")
	for _, decl := range file.Decls {
		o.inner(decl) // first, so that what follows can correct it
		if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
			for _, spec := range decl.Specs {
				o.typeSpec(decl, spec.(*ast.TypeSpec))
			}
		}
	}
	for _, group := range file.Comments {
		if _, ok := o.groups[group]; !ok {
			o.loose(file, group)
		}
	}
	return o
}

type owners struct {
	groups map[*ast.CommentGroup]owner
	docs   map[*ast.Field]*ast.CommentGroup // that the parser has attached to nothing
}

// findDocs finds the doc comments of embedded types that do not begin with a name, such as interface{ ... }: the parser
// attaches none to them.
func (o *owners) findDocs(fset *token.FileSet, file *ast.File) {
	line := func(pos token.Pos) int { return fset.PositionFor(pos, false).Line }
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.InterfaceType)
		if !ok {
			return true
		}
		before := literal.Methods.Opening
		for _, field := range literal.Methods.List {
			if field.Doc == nil && len(field.Names) == 0 {
				i := slices.IndexFunc(file.Comments, func(group *ast.CommentGroup) bool {
					return before < group.Pos() && group.End() <= field.Pos() && line(group.End())+1 == line(field.Pos())
				})
				if i >= 0 {
					o.docs[field] = file.Comments[i]
				}
			}
			before = field.End()
			if field.Comment != nil {
				before = field.Comment.End()
			}
		}
		return true
	})
}

func (o *owners) docOf(field *ast.Field) *ast.CommentGroup {
	if field.Doc != nil {
		return field.Doc
	}
	return o.docs[field]
}

func (o *owners) misplace(group *ast.CommentGroup, what string) {
	if group != nil {
		o.groups[group] = owner{misplaced: what + ": " + belongs}
	}
}

// trailing is for comments behind code, in its line.
func (o *owners) trailing(group *ast.CommentGroup) {
	if group != nil {
		o.groups[group] = owner{misplaced: "directive behind the code of its line: " + belongs + ", above it"}
	}
}

// typeSpec finds the places in a type of the package where directives may stand.
func (o *owners) typeSpec(decl *ast.GenDecl, spec *ast.TypeSpec) {
	if spec.Doc != nil {
		o.groups[spec.Doc] = owner{spec: spec}
	}
	if !decl.Lparen.IsValid() && decl.Doc != nil {
		o.groups[decl.Doc] = owner{spec: spec}
	}
	if literal, ok := ast.Unparen(spec.Type).(*ast.InterfaceType); ok {
		o.literal(literal, true)
	}
}

// literal finds the places in an interface: its methods, and if it has a name its embedded types.
func (o *owners) literal(literal *ast.InterfaceType, named bool) {
	for _, field := range literal.Methods.List {
		if doc := o.docOf(field); doc != nil && (named || len(field.Names) > 0) {
			o.groups[doc] = owner{field: field}
		}
		if inner, ok := ast.Unparen(field.Type).(*ast.InterfaceType); ok && len(field.Names) == 0 {
			o.literal(inner, false)
		}
	}
}

// inner takes all comments of a declaration as misplaced, each with the words for its place.
func (o *owners) inner(decl ast.Decl) {
	_, local := decl.(*ast.FuncDecl)
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				o.misplace(n.Doc, "directive on a method with a body")
			} else {
				o.misplace(n.Doc, "directive on a function")
			}
		case *ast.GenDecl:
			o.genDecl(n, local)
		case *ast.StructType:
			o.fields(n.Fields, "directive on a field of a struct")
		case *ast.InterfaceType:
			if local {
				o.fields(n.Methods, "directive in an interface inside a function")
			} else {
				o.fields(n.Methods, "directive in an interface without a name")
			}
		}
		return true
	})
}

// genDecl takes the comments of a declaration and its specs as misplaced.
func (o *owners) genDecl(decl *ast.GenDecl, local bool) {
	what := map[token.Token]string{
		token.IMPORT: "directive on an import",
		token.CONST:  "directive on a constant",
		token.VAR:    "directive on a variable",
		token.TYPE:   "directive on a group of types",
	}[decl.Tok]
	if local && decl.Tok == token.TYPE {
		what = "directive on a type inside a function"
	}
	o.misplace(decl.Doc, what)
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ImportSpec:
			o.misplace(spec.Doc, what)
			o.trailing(spec.Comment)
		case *ast.ValueSpec:
			o.misplace(spec.Doc, what)
			o.trailing(spec.Comment)
		case *ast.TypeSpec:
			o.misplace(spec.Doc, what)
			o.trailing(spec.Comment)
		}
	}
}

func (o *owners) fields(list *ast.FieldList, what string) {
	for _, field := range list.List {
		o.misplace(o.docOf(field), what)
		o.trailing(field.Comment)
	}
}

// loose finds words for a comment group that the parser attached to nothing.
func (o *owners) loose(file *ast.File, group *ast.CommentGroup) {
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Pos() <= group.Pos() && group.End() <= fn.End() {
			o.misplace(group, "directive inside a function")
		}
	}
}
