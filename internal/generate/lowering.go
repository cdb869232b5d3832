package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// lowering turns an expression into code that meets no nil pointer and no index out of range: what must hold before a part
// of it may be evaluated becomes a step. So each call is made once, where a reader would make it, too.
type lowering struct {
	*expression
	m         *method
	p         *printer
	condition ast.Expr // the expression if it is to be a bool, whatever type it has
	taken     scope    // names of variables that steps must not hide
	steps     []step
	known     facts
	declared  scope // variables of blocks, which those of the method's other expressions must not be called like
	serial    *int  // how many variables there were, so that no two of them share facts
}

// step is what comes before an expression: a condition without which it has no value, a variable that holds what is
// needed twice, by its value or by statements.
type step struct {
	condition  *jen.Statement
	fact       fact // of the condition
	variable   string
	value      *jen.Statement // of the variable
	valueText  string
	statements []jen.Code // that declare it
}

// isAs reports whether both steps ask the same, or declare the same variable. What they ask of it comes after that.
func (s step) isAs(other step) bool {
	if s.condition == nil || other.condition == nil {
		return s.valueText != "" && s.valueText == other.valueText && s.variable == other.variable
	}
	return s.fact == other.fact
}

// place is an expression that may be written twice, and its text for [facts].
type place struct {
	code   *jen.Statement
	text   string
	isStar bool // it is a *x, which other operators bind closer than
}

// operand is the place in front of an operator.
func (pl place) operand() *jen.Statement {
	if pl.isStar {
		return jen.Parens(pl.code)
	}
	return jen.Add(pl.code)
}

func (pl place) dot(name string) place {
	text := pl.text
	if pl.isStar {
		text = "(" + text + ")"
	}
	return place{code: pl.operand().Dot(name), text: text + "." + name}
}

// require adds a step unless the condition is known to hold. It takes the place of one that says less.
func (w *lowering) require(f fact, condition *jen.Statement) {
	if !w.known.add(f) {
		return
	}
	s := step{condition: condition, fact: f}
	if i := slices.IndexFunc(w.steps, func(earlier step) bool { return earlier.fact.weaker(f) }); i >= 0 {
		w.steps[i] = s
		return
	}
	w.steps = append(w.steps, s)
}

func (w *lowering) requireNotNil(pl place) {
	w.require(fact{text: pl.text + " != nil"}, jen.Add(pl.code).Op("!=").Add(w.p.predeclared("nil")))
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
		return w.place(e).code
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
		if isLogical(e) {
			return w.logical(e)
		}
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
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return place{code: w.value(e), text: types.ExprString(e)}
	case *ast.SelectorExpr:
		selection := w.info.Selections[e]
		if selection == nil { // of a package
			return place{code: w.value(e), text: types.ExprString(e)}
		}
		return w.selected(e, selection)
	case *ast.StarExpr:
		pl := w.place(e.X)
		w.requireNotNil(pl)
		return place{code: jen.Op("*").Add(pl.code), text: "*" + pl.text, isStar: true}
	case *ast.IndexExpr:
		if _, isMap := coreOf(w.typ(e.X)).(*types.Map); !isMap {
			pl, at := w.element(e)
			return place{code: pl.operand().Index(at.code), text: pl.text + "[" + at.text + "]"}
		}
	case *ast.CallExpr:
		if pl, ok := w.arrayOfSlice(e); ok {
			return pl
		}
	}
	return w.bind(ast.Unparen(e))
}

// bind declares a variable.
func (w *lowering) bind(e ast.Expr) place {
	value := w.value(e)
	name := w.taken.pick(variableName(e), paramName(w.typ(e), false))
	w.steps = append(w.steps, step{variable: name, value: value, valueText: types.ExprString(e)})
	*w.serial++
	return place{code: jen.Id(name), text: fmt.Sprintf("#%d", *w.serial)}
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
	pl := w.place(e)
	w.requireNotNil(pl)
	return pl.operand()
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

// binary returns the code of an operation. A divisor must not be zero, and a shift not negative.
func (w *lowering) binary(e *ast.BinaryExpr) *jen.Statement {
	needed := "" // of the right side, compared with 0
	switch {
	case e.Op == token.LAND || e.Op == token.LOR:
		return w.logical(e)
	case w.info.Types[e.Y].Value != nil: // checked by the type checker
	case (e.Op == token.QUO || e.Op == token.REM) && mayBeInteger(w.typ(e.Y)):
		needed = "!="
	case (e.Op == token.SHL || e.Op == token.SHR) && basicInfo(w.typ(e.Y))&types.IsUnsigned == 0:
		needed = ">="
	}
	x := w.value(e.X)
	if needed == "" {
		return x.Op(e.Op.String()).Add(w.value(e.Y))
	}
	y := w.place(e.Y)
	w.require(fact{text: y.text + " " + needed + " 0"}, jen.Add(y.code).Op(needed).Lit(0))
	return x.Op(e.Op.String()).Add(y.code)
}
