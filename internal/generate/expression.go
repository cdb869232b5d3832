package generate

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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
	unknown := c.unknown(e)
	var mistake types.Error
	switch {
	case unknown != "":
		c.refuse(node.Pos(), unknown)
		return nil
	case errors.As(err, &mistake):
		message := strings.ReplaceAll(mistake.Msg, "\n\t", " ")
		c.refuse(mistake.Pos, message+cmp.Or(c.wantName(message, pkg, scope), e.wantMember(message, mistake.Pos)))
		return nil
	case err != nil:
		c.refuse(node.Pos(), err.Error())
		return nil
	}
	e.text = types.ExprString(node)
	e.normalize()
	return c.checkValue(e)
}

// unknown says why nobody knows the type of something that the expression mentions, or returns "": what else the type checker
// says may only follow from that.
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

// checkNames reports names that are not what they seem to be, of which the type checker knows nothing.
func (c *expressionCheck) checkNames(node ast.Expr, scope *types.Scope) bool {
	sig := c.method.sig
	ok := true
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if isC(n.X, scope) {
				c.refuse(n.Pos(), "only files that cgo reads know C, and none is generated: want a constant or a function of the package")
				ok = false
			}
			ok = c.checkNames(n.X, scope) && ok
			return false
		case *ast.Ident:
			problem := ""
			switch {
			case strings.HasPrefix(n.Name, "$") && scope.Lookup(n.Name) == nil:
				problem = fmt.Sprintf("undefined: %s, want %s", n.Name, numberRange("$", sig.Params().Len(), "parameters"))
			case c.attr == "refund":
				problem = hiddenResult(sig, n.Name)
			}
			if problem != "" {
				c.refuse(n.Pos(), problem)
				ok = false
			}
		}
		return true
	})
	return ok
}

// isC reports whether an expression is the package C of cgo.
func isC(x ast.Expr, scope *types.Scope) bool {
	name, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	_, obj := scope.LookupParent(name.Name, token.NoPos)
	imported, ok := obj.(*types.PkgName)
	return ok && imported.Imported().Path() == "C"
}

// hiddenResult returns why a name is not that of the result which whoever writes it in a refund means, or "": a parameter
// is called err, or ret0. A result that is called so is what its name says, whichever number it has.
func hiddenResult(sig *types.Signature, name string) string {
	last := sig.Results().Len() - 1
	param := slices.Index(names(sig.Params()), name)
	if name == "err" {
		if param >= 0 && last >= 0 && isError(sig.Results().At(last).Type()) {
			return fmt.Sprintf("err is a parameter and not the error result: want $%d or ret%d", param, last)
		}
		return ""
	}
	digits, ok := strings.CutPrefix(name, "ret")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil || strconv.Itoa(number) != digits || number < 0 || number > last {
		return ""
	}
	if param >= 0 {
		return fmt.Sprintf("%s is a parameter and not the result of that number: want $%d, or another name for the parameter", name, param)
	}
	return ""
}

// numberRange returns the names of n parameters or results by their numbers.
func numberRange(prefix string, n int, what string) string {
	switch n {
	case 0:
		return "none, there are no " + what
	case 1:
		return prefix + "0"
	}
	return fmt.Sprintf("%[1]s0 to %[1]s%d", prefix, n-1)
}

// checkSyntax reports what an expression of a directive must not hold: what changes something, may panic for other reasons
// than those that generated code asks for before, or is a small program.
func (c *expressionCheck) checkSyntax(node ast.Expr) bool {
	ok := true
	refuse := func(n ast.Node, message string) {
		c.refuse(n.Pos(), message)
		ok = false
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			refuse(n, "function literal: want a call of a function of the package")
		case *ast.CompositeLit:
			refuse(n, "composite literal: want a call of a function of the package that makes one")
		case *ast.TypeAssertExpr:
			refuse(n, "type assertion: want a call of a function of the package that makes it")
		case *ast.UnaryExpr:
			if n.Op == token.AND || n.Op == token.ARROW {
				refuse(n, n.Op.String()+": want a value that is there already")
			}
		}
		return ok
	})
	return ok
}

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
