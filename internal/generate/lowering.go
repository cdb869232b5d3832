package generate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/dave/jennifer/jen"
)

// lowering turns an expression into code that meets no nil pointer and no index out of range: what must hold before a part
// of it may be evaluated becomes a step. So each call is made once, where a reader would make it, too.
type lowering struct {
	*expression
	m     *method
	p     *printer
	taken scope // names of variables that steps must not hide
	steps []step
	known facts
}

// step is what comes before an expression: a condition without which it has no value, a variable that holds what is
// needed twice, or statements that set one.
type step struct {
	condition  *jen.Statement
	text       string // of the condition
	variable   string
	value      *jen.Statement // of the variable
	statements []jen.Code
}

// place is an expression that may be written twice, and its text for [facts].
type place struct {
	code *jen.Statement
	text string
}

func (pt place) dot(name string) place {
	return place{jen.Add(pt.code).Dot(name), pt.text + "." + name}
}

// require adds a step unless the condition is known to hold.
func (w *lowering) require(f fact, condition *jen.Statement) {
	if w.known.add(f) {
		w.steps = append(w.steps, step{condition: condition, text: fmt.Sprint(f)})
	}
}

func (w *lowering) requireNotNil(pt place) {
	w.require(fact{text: pt.text + " != nil"}, jen.Add(pt.code).Op("!=").Add(w.p.predeclared("nil")))
}

// value returns the code of an expression, after the steps that it needs.
func (w *lowering) value(e ast.Expr) *jen.Statement {
	tv := w.info.Types[e]
	if tv.IsType() {
		return w.typeExpr(e)
	}
	switch e := e.(type) {
	case *ast.Ident:
		return w.ident(e)
	case *ast.BasicLit:
		return jen.Id(e.Value)
	case *ast.ParenExpr:
		return jen.Parens(w.value(e.X))
	case *ast.SelectorExpr:
		return w.selector(e)
	case *ast.StarExpr:
		pt := w.place(e.X)
		w.requireNotNil(pt)
		return jen.Op("*").Add(pt.code)
	case *ast.CallExpr:
		return w.call(e)
	case *ast.IndexExpr:
		if w.isInstance(e.X) {
			return w.value(e.X).Types(w.value(e.Index))
		}
		return w.index(e)
	case *ast.IndexListExpr:
		return w.value(e.X).Types(mapEach(len(e.Indices), func(i int) jen.Code { return w.value(e.Indices[i]) })...)
	case *ast.SliceExpr:
		return w.slice(e)
	case *ast.UnaryExpr:
		return jen.Op(e.Op.String()).Add(w.value(e.X))
	case *ast.BinaryExpr:
		return w.binary(e)
	}
	w.p.problems = append(w.p.problems, fmt.Sprintf("%s has no spelling", types.ExprString(e)))
	return jen.Null()
}

// typeExpr returns the code of a type. The type parameters of an embedded interface mean nothing where it is embedded.
func (w *lowering) typeExpr(e ast.Expr) *jen.Statement {
	own := w.m.decorator.iface.TypeParams
	for _, name := range identsOf(e) {
		if t, ok := w.typ(name).(*types.TypeParam); ok && (t.Index() >= own.Len() || own.At(t.Index()) != t) {
			w.p.problems = append(w.p.problems, fmt.Sprintf("%s is a type parameter of another interface", t))
		}
	}
	return w.p.typ(w.typ(e))
}

// place returns an expression that can be written twice: where it must not be evaluated twice, a variable that holds it.
func (w *lowering) place(e ast.Expr) place {
	e = ast.Unparen(e)
	if isRepeatable(w.info, e) {
		code := w.value(e)
		return place{code, types.ExprString(e)}
	}
	return w.bind(e, w.value(e))
}

func (w *lowering) bind(e ast.Expr, value *jen.Statement) place {
	name := w.taken.pick(variableName(e))
	w.steps = append(w.steps, step{variable: name, value: value})
	return place{jen.Id(name), name}
}

// isRepeatable reports whether an expression costs nothing to evaluate and cannot have changed when evaluated again.
func isRepeatable(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return isRepeatable(info, e.X)
	case *ast.StarExpr:
		return isRepeatable(info, e.X)
	case *ast.IndexExpr:
		_, isMap := coreOf(info.TypeOf(e.X)).(*types.Map)
		return !isMap && isRepeatable(info, e.X) && isRepeatable(info, e.Index)
	}
	return false
}

func (w *lowering) ident(e *ast.Ident) *jen.Statement {
	obj := w.info.Uses[e]
	if v, ok := w.vars[obj]; ok {
		return jen.Id(w.m.variable(v))
	}
	return w.object(obj)
}

// object returns the name of what a package declares.
func (w *lowering) object(obj types.Object) *jen.Statement {
	if code := w.p.object(obj); code != nil {
		return code
	}
	w.p.problems = append(w.p.problems, w.p.obstacle(obj))
	return jen.Null()
}

// selector returns the code of a field, of a method's name, or of what another package declares.
func (w *lowering) selector(e *ast.SelectorExpr) *jen.Statement {
	selection := w.info.Selections[e]
	if selection == nil {
		return w.object(w.info.Uses[e.Sel])
	}
	if obj := selection.Obj(); !obj.Exported() && !w.p.isLocal(obj.Pkg()) {
		w.p.problems = append(w.p.problems, fmt.Sprintf("%s.%s is not exported", obj.Pkg().Name(), obj.Name()))
	}
	if !mayBeNil(selection) {
		return w.value(e.X).Dot(e.Sel.Name)
	}
	pt := w.place(e.X)
	w.requireSelection(pt, selection)
	return jen.Add(pt.code).Dot(e.Sel.Name)
}

// mayBeNil reports whether there is a pointer or an interface on the way to a field or method.
func mayBeNil(selection *types.Selection) bool {
	nilable := false
	walk(selection, func(t types.Type, _ *types.Var) { nilable = nilable || isNilable(t) })
	return nilable
}

// requireSelection requires that what is on the way from a value to its field or method is not nil.
func (w *lowering) requireSelection(pt place, selection *types.Selection) {
	walk(selection, func(t types.Type, field *types.Var) {
		if field != nil {
			pt = pt.dot(field.Name())
		}
		if !isNilable(t) {
			return
		}
		if field != nil && !field.Exported() && !w.p.isLocal(field.Pkg()) {
			w.p.problems = append(w.p.problems, fmt.Sprintf("%s.%s may be nil and is not exported", field.Pkg().Name(), field.Name()))
		}
		w.requireNotNil(pt)
	})
}

// walk calls visit for the value of a selection, and then for each embedded field on the way, with its type. The field or
// method at the end is not visited.
func walk(selection *types.Selection, visit func(t types.Type, field *types.Var)) {
	t := selection.Recv()
	visit(t, nil)
	index := selection.Index()
	for _, i := range index[:len(index)-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		field := t.Underlying().(*types.Struct).Field(i)
		t = field.Type()
		visit(t, field)
	}
}

// isNilable reports whether a method of t or a field behind it cannot be used when a value of t is nil.
func isNilable(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return true
	}
	return false
}

// call returns the code of a conversion or of a call.
func (w *lowering) call(e *ast.CallExpr) *jen.Statement {
	if fun := w.info.Types[e.Fun]; fun.IsType() {
		return w.conversion(fun.Type, e)
	}
	fun := w.callee(e.Fun)
	args := mapEach(len(e.Args), func(i int) jen.Code {
		arg := w.value(e.Args[i])
		if e.Ellipsis.IsValid() && i == len(e.Args)-1 {
			arg.Op("...")
		}
		return arg
	})
	return fun.Call(args...)
}

// callee returns the code of what is called. A variable must not be nil.
func (w *lowering) callee(e ast.Expr) *jen.Statement {
	if tv := w.info.Types[e]; tv.IsBuiltin() || isDeclared(w.info, e) {
		return w.value(e)
	}
	pt := w.place(e)
	w.requireNotNil(pt)
	return jen.Add(pt.code)
}

// isDeclared reports whether an expression names a function or method that is declared, which is never nil.
func isDeclared(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := info.Uses[e].(*types.Func)
		return ok
	case *ast.SelectorExpr:
		_, ok := info.Uses[e.Sel].(*types.Func)
		return ok
	case *ast.IndexExpr:
		return isDeclared(info, e.X)
	case *ast.IndexListExpr:
		return isDeclared(info, e.X)
	}
	return false
}

func (w *lowering) isInstance(e ast.Expr) bool { return isDeclared(w.info, e) }

// conversion returns the code of T(x). A slice must be as long as the array that it becomes.
func (w *lowering) conversion(t types.Type, e *ast.CallExpr) *jen.Statement {
	arg := e.Args[0]
	code := w.p.typ(t)
	switch ast.Unparen(e.Fun).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.ArrayType, *ast.MapType, *ast.IndexExpr, *ast.IndexListExpr:
	default: // *T(x) would be *(T(x))
		code = jen.Parens(code)
	}
	array := coreOf(t)
	if p, ok := array.(*types.Pointer); ok {
		array = coreOf(p.Elem())
	}
	a, toArray := array.(*types.Array)
	if _, fromSlice := coreOf(w.typ(arg)).(*types.Slice); !toArray || !fromSlice {
		return code.Call(w.value(arg))
	}
	pt := w.place(arg)
	w.requireLen(pt, a.Len())
	return code.Call(pt.code)
}

// requireLen requires that a value has n elements or more.
func (w *lowering) requireLen(pt place, n int64) {
	if n == 0 {
		return
	}
	length := w.p.predeclared("len").Call(pt.code)
	if n == 1 {
		w.require(fact{text: pt.text, length: 1}, length.Op(">").Lit(0))
		return
	}
	w.require(fact{text: pt.text, length: n}, length.Op(">=").Id(fmt.Sprint(n)))
}

// index returns the code of an element. That of a map may be missing, which is no mistake in Go.
func (w *lowering) index(e *ast.IndexExpr) *jen.Statement {
	core := coreOf(w.typ(e.X))
	if _, ok := core.(*types.Map); ok {
		return w.value(e.X).Index(w.value(e.Index))
	}
	if _, ok := core.(*types.Array); ok && w.constant(e.Index) >= 0 {
		return w.value(e.X).Index(w.value(e.Index)) // in range, or it would not compile
	}
	pt := w.place(e.X)
	if _, ok := core.(*types.Pointer); ok {
		w.requireNotNil(pt)
		if w.constant(e.Index) >= 0 {
			return jen.Add(pt.code).Index(w.value(e.Index))
		}
	}
	if n := w.constant(e.Index); n >= 0 {
		w.requireLen(pt, n+1)
		return jen.Add(pt.code).Index(w.value(e.Index))
	}
	at := w.place(e.Index)
	w.requireInRange(at, w.typ(e.Index), pt, "<")
	return jen.Add(pt.code).Index(at.code)
}

// constant returns the value of an expression that is a constant and an index, or else -1.
func (w *lowering) constant(e ast.Expr) int64 {
	if v := w.info.Types[e].Value; v != nil {
		if n, exact := constant.Int64Val(constant.ToInt(v)); exact {
			return n
		}
	}
	return -1
}

// requireInRange requires that an index is not negative, and less than the length of a value, or at most that.
func (w *lowering) requireInRange(at place, t types.Type, pt place, op string) {
	length := func() *jen.Statement { return w.p.predeclared("len").Call(pt.code) }
	text := fmt.Sprintf("%s %s len(%s)", at.text, op, pt.text)
	if types.Identical(t.Underlying(), types.Typ[types.Int]) && types.Identical(types.Unalias(t), types.Typ[types.Int]) {
		w.require(fact{text: at.text + " >= 0"}, jen.Add(at.code).Op(">=").Lit(0))
		w.require(fact{text: text}, jen.Add(at.code).Op(op).Add(length()))
		return
	}
	// A negative index becomes a huge one.
	wide := func(x *jen.Statement) *jen.Statement { return w.p.predeclared("uint64").Call(x) }
	w.require(fact{text: text}, wide(at.code).Op(op).Add(wide(length())))
}

// slice returns the code of x[low:high].
func (w *lowering) slice(e *ast.SliceExpr) *jen.Statement {
	pt := w.place(e.X)
	if _, ok := coreOf(w.typ(e.X)).(*types.Pointer); ok {
		w.requireNotNil(pt)
	}
	bounds := []jen.Code{jen.Empty(), jen.Empty()}
	var low place
	isLow := func(i int) bool { return i == 0 }
	for i, bound := range []ast.Expr{e.Low, e.High} {
		if bound == nil {
			continue
		}
		if n := w.constant(bound); n >= 0 {
			w.requireLen(pt, n)
			bounds[i] = w.value(bound)
			if isLow(i) {
				low = place{jen.Id(fmt.Sprint(n)), fmt.Sprint(n)}
			} else if low.code != nil && w.constant(e.Low) < 0 {
				w.requireOrder(low, w.typ(e.Low), place{jen.Id(fmt.Sprint(n)), fmt.Sprint(n)}, types.Typ[types.UntypedInt])
			}
			continue
		}
		at := w.place(bound)
		w.requireInRange(at, w.typ(bound), pt, "<=")
		bounds[i] = at.code
		if isLow(i) {
			low = at
		} else if low.code != nil {
			w.requireOrder(low, w.typ(e.Low), at, w.typ(bound))
		}
	}
	return jen.Add(pt.code).Index(bounds...)
}

// requireOrder requires that a slice does not end before it begins. Both bounds are known to be in range.
func (w *lowering) requireOrder(low place, lowType types.Type, high place, highType types.Type) {
	if !types.Identical(lowType, highType) && !isUntyped(lowType) && !isUntyped(highType) {
		wide := func(x *jen.Statement) *jen.Statement { return w.p.predeclared("uint64").Call(x) }
		low.code, high.code = wide(low.code), wide(high.code)
	}
	w.require(fact{text: low.text + " <= " + high.text}, jen.Add(low.code).Op("<=").Add(high.code))
}

func isUntyped(t types.Type) bool { return basicInfo(t)&types.IsUntyped != 0 }

// binary returns the code of an operation. A divisor must not be zero, and a shift not negative.
func (w *lowering) binary(e *ast.BinaryExpr) *jen.Statement {
	isConstant := w.info.Types[e.Y].Value != nil
	isInteger := basicInfo(w.typ(e.Y))&types.IsInteger != 0
	switch e.Op {
	case token.LAND, token.LOR:
		return w.logical(e)
	case token.QUO, token.REM:
		if isConstant || !isInteger {
			break
		}
		x, y := w.value(e.X), w.place(e.Y)
		w.require(fact{text: y.text + " != 0"}, jen.Add(y.code).Op("!=").Lit(0))
		return x.Op(e.Op.String()).Add(y.code)
	case token.SHL, token.SHR:
		if isConstant || basicInfo(w.typ(e.Y))&types.IsUnsigned != 0 {
			break
		}
		x, y := w.value(e.X), w.place(e.Y)
		w.require(fact{text: y.text + " >= 0"}, jen.Add(y.code).Op(">=").Lit(0))
		return x.Op(e.Op.String()).Add(y.code)
	}
	return w.value(e.X).Op(e.Op.String()).Add(w.value(e.Y))
}

// coreOf returns the underlying type of t, or what those that a type parameter stands for have in common, or nil.
func coreOf(t types.Type) types.Type {
	terms := termsOf(t)
	if len(terms) == 0 {
		return nil
	}
	for _, term := range terms[1:] {
		if !types.Identical(term, terms[0]) {
			return nil
		}
	}
	return terms[0]
}
