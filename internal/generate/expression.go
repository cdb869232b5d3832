package generate

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// expression is a Go expression of a directive, with the types that it has in one method.
type expression struct {
	text string // as all of its spellings have it, see exprText
	node ast.Expr
	info *types.Info
	vars map[types.Object]variable // what its names may mean in the method

	*expressionCheck
}

// variable is a parameter or a result of a method, by its place.
type variable struct {
	index    int
	isResult bool
}

// typ returns the type of a node of the expression.
func (e *expression) typ(node ast.Expr) types.Type { return e.info.TypeOf(node) }

// exprText returns an expression as all of its spellings have it: without superfluous blanks.
func exprText(e *annotations.Expr) string { return types.ExprString(e.Syntax(token.NewFileSet())) }

// expressionCheck is an expression of a directive on its way to an [expression] of one method.
type expressionCheck struct {
	*builder
	method *method
	limit  *parse.Limit
	attr   string
	source *annotations.Expr
	file   *token.File    // that holds the source and nothing else
	home   *types.Package // of the directive
}

// expression returns an expression of an attribute, or nil if it has mistakes, which are reported. That of refund may
// mention results.
func (b *builder) expression(m *method, l *parse.Limit, attr string, source *annotations.Expr) *expression {
	fset := b.source.Package.Fset
	node := source.Syntax(fset)
	c := &expressionCheck{builder: b, method: m, limit: l, attr: attr, source: source, file: fset.File(node.Pos())}
	e := &expression{
		node:            node,
		expressionCheck: c,
		info: &types.Info{
			Types:      map[ast.Expr]types.TypeAndValue{},
			Uses:       map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
			Instances:  map[*ast.Ident]types.Instance{},
		},
	}
	pkg, outer := b.home(m, l)
	if pkg == nil { // who has the source has checked it, see [Check]
		if obstacle, ok := l.Obstacle(source.Offset); ok {
			c.refuseFor(m.decorator.elsewhere(nil, m.name), node.Pos(), obstacle)
		}
		return nil
	}
	c.home = pkg
	scope := types.NewScope(pkg.Scope(), node.Pos(), token.Pos(c.file.Base()+c.file.Size()+1), "directive")
	e.vars = c.declare(scope, outer)
	if !c.checkNames(node, scope) || !c.checkSyntax(node) {
		return nil
	}
	err := types.CheckExpr(fset, pkg, node.Pos(), node, e.info)
	var mistake types.Error
	switch {
	case errors.As(err, &mistake):
		message := strings.ReplaceAll(mistake.Msg, "\n\t", " ")
		if want := cmp.Or(c.wantName(message, pkg, scope), e.wantMember(message, mistake.Pos)); want != "" {
			c.refuse(mistake.Pos, message+want)
		} else {
			c.refuse(mistake.Pos, cmp.Or(c.unknown(e), message))
		}
		return nil
	case err != nil:
		c.refuse(node.Pos(), err.Error())
		return nil
	}
	e.text = types.ExprString(node)
	e.normalize()
	return c.checkValue(e)
}

// unknown says why nobody knows the type of something that the expression mentions, or returns "". Other mistakes may only
// follow from that.
func (c *expressionCheck) unknown(e *expression) (words string) {
	for _, name := range identsOf(e.node) {
		if obj := e.info.Uses[name]; obj != nil && words == "" {
			words = c.whyUnknown(obj)
		}
	}
	return words
}

// normalize gives each parameter and result one name in the expression, so that equal parts of it have equal texts.
func (e *expression) normalize() {
	for _, name := range identsOf(e.node) {
		if v, ok := e.vars[e.info.Uses[name]]; ok {
			name.Name = v.name(e.method.sig)
		}
	}
}

// name is the name of the variable in the method's signature, or one that no other variable can have.
func (v variable) name(sig *types.Signature) string {
	vars, unnamed := sig.Params(), "$"
	if v.isResult {
		vars, unnamed = sig.Results(), "$ret"
	}
	if declared := vars.At(v.index); !isUnnamed(declared) {
		return declared.Name()
	}
	return unnamed + strconv.Itoa(v.index)
}

// home returns the package of the file that a directive stands in, and the innermost scope there: that of the file, or of
// the type parameters of a declaration. It is that of the method if another package declares that with its directives, and
// nil if the source of that one is not at hand.
func (b *builder) home(m *method, l *parse.Limit) (*types.Package, *types.Scope) {
	for _, pkg := range []*types.Package{b.source.Package.Types, m.Func.Pkg()} {
		if pkg == nil { // of error
			break
		}
		for file := range pkg.Scope().Children() {
			if scope := file.Innermost(l.Pos); scope != nil {
				return pkg, scope
			}
		}
	}
	return nil, nil
}

// declare puts into the scope of an expression what it may mention: the method's parameters and results, and what the file
// of the directive sees. What comes first hides what comes later.
func (c *expressionCheck) declare(scope, outer *types.Scope) map[types.Object]variable {
	vars := map[types.Object]variable{}
	add := func(name string, t types.Type, v variable) {
		if obj := types.NewVar(token.NoPos, nil, name, t); name != "" && name != "_" && scope.Insert(obj) == nil {
			vars[obj] = v
		}
	}
	sig := c.method.sig
	for i := range sig.Params().Len() {
		param := sig.Params().At(i)
		add(param.Name(), param.Type(), variable{index: i})
		add("$"+strconv.Itoa(i), param.Type(), variable{index: i})
	}
	if c.attr == "refund" {
		last := sig.Results().Len() - 1
		for i := range sig.Results().Len() {
			result := sig.Results().At(i)
			v := variable{index: i, isResult: true}
			add(result.Name(), result.Type(), v)
			if i == last && isError(result.Type()) && isUnnamed(result) {
				add("err", result.Type(), v)
			}
		}
		for i := range sig.Results().Len() {
			add("ret"+strconv.Itoa(i), sig.Results().At(i).Type(), variable{index: i, isResult: true})
		}
	}
	for ; outer != nil && outer != scope.Parent(); outer = outer.Parent() {
		for _, name := range outer.Names() {
			scope.Insert(outer.Lookup(name))
		}
	}
	return vars
}

func isUnnamed(v *types.Var) bool { return v.Name() == "" || v.Name() == "_" }

// refuse reports a mistake at a node of the expression. A default holds for more than one method, so that it says which.
func (c *expressionCheck) refuse(pos token.Pos, message string) { c.refuseFor(need{}, pos, message) }

// refuseFor reports a mistake that is one because of who needs the expression.
func (c *expressionCheck) refuseFor(n need, pos token.Pos, message string) {
	offset := c.source.Offset
	if c.file.Base() <= int(pos) && int(pos) <= c.file.Base()+c.file.Size() {
		offset = c.source.At(c.file.Offset(pos))
	}
	at := c.limit.Pos + token.Pos(offset)
	text := fmt.Sprintf("%s: {%s}", c.attr, c.source.Text)
	if strings.HasPrefix(message, "is ") || strings.HasPrefix(message, "has ") {
		text += " " + message
	} else {
		text += ": " + message
	}
	text += n.words
	if !c.limit.Default {
		c.mistakes.addFor(n.decorator, at, text)
		return
	}
	c.mistakes.addMethodFor(n.decorator, at, strings.ReplaceAll(text, "%", "%%")+" (in %s)", c.method.name)
}

// need is who needs what a directive mentions, in words that end a message, and by name if that is one of several that may.
type need struct{ words, decorator string }

// elsewhere says where what a directive mentions cannot be written if that is not the package that the directive stands in.
func (d *decorator) elsewhere(home *types.Package, method string) need {
	switch source := d.source.Package.Types; home {
	case d.target.Types:
		return need{}
	case source:
		return need{words: ", but the decorator" + d.there() + " needs it: " + wayOut}
	default:
		name := source.Name() + "." + d.iface.Name
		words := fmt.Sprintf(", but %s: want what can be written there, or %s with a line of its own there", parse.Needed(name), method)
		return need{words, name}
	}
}
