package generate

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// unknownType is what is said of a type if nobody knows why it is unknown.
const unknownType = "unknown type: want one that compiles"

// whyUnknown says why nobody knows the type of something, or returns "".
func (b *builder) whyUnknown(obj types.Object) string {
	switch mistake, isUnknown := b.source.Package.WhyUnknown(obj); {
	case !isUnknown:
		return ""
	case mistake == nil:
		return unknownType
	default:
		return fmt.Sprintf("unknown type: want %v to compile: %s", mistake.Pos, mistake.Message)
	}
}

// checkValue returns the expression unless it is no value, or not of a type that the attribute takes.
func (c *expressionCheck) checkValue(e *expression) *expression {
	tv := e.info.Types[e.node]
	refuse := func(message string) *expression {
		c.refuse(e.node.Pos(), message)
		return nil
	}
	switch t := tv.Type; {
	case tv.IsBuiltin():
		return refuse("is a built-in function: want a value")
	case tv.IsVoid():
		return refuse("has no value: want one")
	case t == nil || t.Underlying() == types.Typ[types.Invalid]:
		return refuse(cmp.Or(c.unknown(e), unknownType))
	case tv.IsType():
		return refuse("is a type: want a value")
	case !c.checkCalls(e), !c.checkComparisons(e):
		return nil
	case c.attr == "key":
		if _, ok := holeOf(t); !ok || tv.IsNil() || !representable(tv) {
			return refuse(c.describe(tv) + ": want a string, []byte, bool, integer, encoding.TextMarshaler or fmt.Stringer" + c.wayOut(e))
		}
	case c.attr == "cost":
		if !isInteger(t) || !representable(tv) {
			return refuse(c.describe(tv) + ": want an integer")
		}
		return c.checkConstantCost(e, tv)
	case basicInfo(t)&types.IsBoolean == 0:
		return refuse(c.describe(tv) + ": want a bool")
	case tv.Value != nil:
		return refuse(fmt.Sprintf("is always %s: want a condition of the call, or no %s=", tv.Value, c.attr))
	}
	return e
}

// checkConstantCost returns the expression unless it is a constant cost that no call can have.
func (c *expressionCheck) checkConstantCost(e *expression, tv types.TypeAndValue) *expression {
	if tv.Value == nil {
		return e
	}
	capacity := c.limit.Count
	if c.limit.Burst > 0 {
		capacity = c.limit.Burst
	}
	if n, exact := constant.Int64Val(constant.ToInt(tv.Value)); !exact || n < 0 || n > capacity {
		c.refuse(e.node.Pos(), fmt.Sprintf("is %s: want 0 to the capacity, %d", tv.Value, capacity))
		return nil
	}
	return e
}

// pure are the built-in functions that expressions may call.
var pure = []string{"len", "cap", "min", "max", "real", "imag", "complex"}

// checkCalls reports calls of built-in functions that do more than to return a value, and methods that are not called or
// are those of a type: what keeps a call from panicking is asked of a value.
func (c *expressionCheck) checkCalls(e *expression) bool {
	ok := true
	refuse := func(n ast.Node, message string) {
		c.refuse(n.Pos(), message)
		ok = false
	}
	calls := map[ast.Expr]*ast.CallExpr{} // by what is called
	ast.Inspect(e.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			calls[ast.Unparen(n.Fun)] = n
			name, isIdent := ast.Unparen(n.Fun).(*ast.Ident)
			if isIdent && e.info.Types[n.Fun].IsBuiltin() && !slices.Contains(pure, name.Name) {
				refuse(n, name.Name+": want "+strings.Join(pure[:3], ", ")+" or max of the built-in functions")
			}
		case *ast.SelectorExpr:
			switch s := e.info.Selections[n]; {
			case s == nil || s.Kind() == types.FieldVal:
			case s.Kind() == types.MethodExpr:
				refuse(n, types.ExprString(n)+" is a method of a type: want "+ofValue(n, calls[n]))
			case calls[n] == nil:
				refuse(n, "method "+n.Sel.Name+" is not called: want "+n.Sel.Name+argsOf(s.Type()))
			}
		}
		return ok
	})
	return ok
}

// ofValue returns the call of a method of a type as one of that of a value.
func ofValue(method *ast.SelectorExpr, call *ast.CallExpr) string {
	if call == nil || len(call.Args) == 0 {
		return "the call of one of a value"
	}
	receiver := call.Args[0]
	switch receiver.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
		receiver = &ast.ParenExpr{X: receiver}
	}
	return types.ExprString(&ast.CallExpr{
		Fun:  &ast.SelectorExpr{X: receiver, Sel: method.Sel},
		Args: call.Args[1:], Ellipsis: call.Ellipsis,
	})
}

// argsOf returns the list of arguments that a call of a function begins and ends with.
func argsOf(t types.Type) string {
	if t.(*types.Signature).Params().Len() > 0 {
		return "(...)"
	}
	return "()"
}

// describe returns the type of a value in words: a *Request.
func (c *expressionCheck) describe(tv types.TypeAndValue) string {
	if tv.IsNil() {
		return "is nil"
	}
	text := types.TypeString(tv.Type, c.qualifier)
	if t, ok := types.Unalias(tv.Type).(*types.TypeParam); ok {
		return "is of the type parameter " + text + " " + types.TypeString(t.Constraint(), c.qualifier)
	}
	article := "a "
	if strings.ContainsAny(text[:1], "aeiou") && !strings.HasPrefix(text, "uint") {
		article = "an "
	}
	if _, ok := tv.Type.(*types.Tuple); ok {
		return "has the values " + text
	}
	if tv.Value != nil {
		return "is " + article + text + " of " + tv.Value.String()
	}
	return "is " + article + text
}

// qualifier names packages in messages, but not that of the source.
func (b *builder) qualifier(pkg *types.Package) string {
	if pkg.Path() == b.source.Package.Types.Path() {
		return ""
	}
	return pkg.Name()
}

// wayOut returns a hint for a value that could be a part of a key by a small change.
func (c *expressionCheck) wayOut(e *expression) string {
	t := e.typ(e.node)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		if _, ok := holeOf(p.Elem()); ok {
			return ", such as {*" + c.source.Text + "}"
		}
	}
	if sig, ok := t.Underlying().(*types.Signature); ok && sig.Params().Len() == 0 && sig.Results().Len() == 1 {
		if _, ok := holeOf(sig.Results().At(0).Type()); ok {
			return ", such as {" + c.source.Text + "()}"
		}
	}
	if types.Implements(types.NewPointer(t), stringer) {
		return ", such as {" + c.source.Text + ".String()}"
	}
	return ""
}
