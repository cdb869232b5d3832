package generate

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// fallback returns the fallback of the method's limits, or nil if they have none or mistakes in it, which are reported.
// They all have the same: with others, what becomes of a call that two limits refuse would be anyone's guess.
func (b *builder) fallback(m *method) *fallback {
	i := slices.IndexFunc(m.Limits, func(l *parse.Limit) bool { return l.Fallback != "" })
	if i < 0 {
		return nil
	}
	first := m.Limits[i]
	for _, l := range m.Limits {
		if l.Fallback != first.Fallback {
			b.mistakes.addMethod(l.Pos+token.Pos(l.Offset("fallback")), "fallback: %s has fallback="+first.Fallback+
				" in another limit: want the same in all of them", m.name)
		}
	}
	if pkg, _ := b.home(m, first); pkg == nil { // who has the source has checked it, see [Check]
		if obstacle, ok := first.Obstacle(first.ValueOffset("fallback")); ok {
			b.refuseFallbackFor(m.decorator.elsewhere(nil, m.name), first, obstacle)
		}
		return nil
	}
	f := &fallback{limit: first}
	f.target, f.isMethod = b.findFallback(m, first)
	if f.target == nil || !b.checkFallback(m, f) {
		return nil
	}
	return f
}

// refuseFallback reports a mistake in the attribute.
func (b *builder) refuseFallback(l *parse.Limit, message string) {
	b.refuseFallbackFor(need{}, l, message)
}

// refuseFallbackFor reports a mistake that is one because of who needs the fallback.
func (b *builder) refuseFallbackFor(n need, l *parse.Limit, message string) {
	at := l.Pos + token.Pos(l.ValueOffset("fallback"))
	b.mistakes.addFor(n.decorator, at, fmt.Sprintf("fallback=%s: %s%s", l.Fallback, message, n.words))
}

// findFallback returns the method of the interface, or the function of the directive's package, that has the name.
func (b *builder) findFallback(m *method, l *parse.Limit) (target *types.Func, isMethod bool) {
	iface := m.decorator.iface
	pkg, _ := b.home(m, l)
	function := pkg.Scope().Lookup(l.Fallback)
	for _, other := range iface.Methods {
		switch {
		case other.Func.Name() != l.Fallback:
		case !b.isCallable(other):
			b.refuseFallback(l, "is private to "+other.Func.Pkg().Path()+": want a function or another method")
			return nil, false
		default:
			target = other.Func
		}
	}
	switch found, isFunc := function.(*types.Func); {
	case target != nil && isFunc:
		b.refuseFallback(l, "is a function and a method of "+iface.Name+": want another name for one of them")
		return nil, false
	case target != nil:
		return target, true
	case isFunc:
		return found, false
	case function != nil:
		b.refuseFallback(l, "is a "+kindOf(function)+": want a function or a method")
	default:
		b.refuseFallback(l, b.fallbackNotFound(m, l, pkg))
	}
	return nil, false
}

// isCallable reports whether code of the target may call the method: those of another package may be private to it.
func (b *builder) isCallable(m *parse.Method) bool {
	return m.Func.Exported() || m.Func.Pkg().Path() == b.target.Types.Path()
}

func (b *builder) fallbackNotFound(m *method, l *parse.Limit, pkg *types.Package) string {
	message := fmt.Sprintf("no function of %s and no method of %s", pkg.Name(), m.decorator.iface.Name)
	if pos, ok := b.source.Package.Names[l.Fallback]; ok && pkg == b.source.Package.Types {
		return fmt.Sprintf("%s in this build, unlike in that of %v: want one in both", message, b.source.Package.Fset.PositionFor(pos, false))
	}
	var known []string
	for _, other := range m.decorator.iface.Methods {
		if b.isCallable(other) && other.Func.Name() != m.name {
			known = append(known, other.Func.Name())
		}
	}
	for _, name := range pkg.Scope().Names() {
		if _, ok := pkg.Scope().Lookup(name).(*types.Func); ok {
			known = append(known, name)
		}
	}
	if meant := spelling.Nearest(l.Fallback, known, func(string) string { return "" }); meant != "" {
		return fmt.Sprintf("%s: did you mean %q?", message, meant)
	}
	return message + ": want the name of one"
}

func kindOf(obj types.Object) string {
	switch obj.(type) {
	case *types.TypeName:
		return "type"
	case *types.Const:
		return "constant"
	}
	return "variable"
}

// checkFallback reports a fallback that cannot stand in for the method.
func (b *builder) checkFallback(m *method, f *fallback) bool {
	l, sig := f.limit, types.TypeString(f.target.Signature(), b.qualifier)
	declared := b.source.Package.Fset.PositionFor(f.target.Pos(), false).Filename
	if !f.isMethod {
		sig = strings.Replace(sig, "func", "func "+f.target.Name(), 1)
	}
	switch {
	case f.isMethod && f.target.Name() == m.name:
		b.mistakes.addMethod(l.Pos+token.Pos(l.ValueOffset("fallback")), "fallback="+l.Fallback+
			": %s would be called without a limit where it is over its limit: want another fallback, or no limit (//ratelimit:skip or methods=)", m.name)
	case !f.isMethod && strings.HasSuffix(declared, "_test.go") && !strings.HasSuffix(b.source.Path, "_test.go"):
		b.refuseFallback(l, "is a function of the tests: want it in a file that is no test")
	case strings.Contains(sig, "invalid type"):
		b.refuseFallback(l, b.whyUnknown(f.target))
	case m.fit(f):
		return true
	case l.Default:
		text := fmt.Sprintf("fallback=%s: is %s", l.Fallback, sig)
		b.mistakes.addMethod(l.Pos+token.Pos(l.ValueOffset("fallback")), strings.ReplaceAll(text, "%", "%%")+
			", which does not fit %s: want methods= with those that it fits, or lines of their own for others", m.name)
	default:
		b.refuseFallback(l, fmt.Sprintf("is %s: want %s as %s, or that with a last *ratelimit.LimitError", sig,
			types.TypeString(m.sig, b.qualifier), m.name))
	}
	return false
}

// fit reports whether the fallback takes what the method takes and returns what it returns, and completes it.
func (m *method) fit(f *fallback) bool {
	sig, want := f.target.Signature(), m.sig
	if n := sig.Params().Len(); n == m.sig.Params().Len()+1 && isLimitError(sig.Params().At(n-1).Type()) {
		f.takesErr = true
		want = withLast(m.sig, sig.Params().At(n-1))
	}
	if sig.TypeParams().Len() == 0 {
		return types.Identical(sig, want)
	}
	typeArgs := infer(f.target, want)
	if typeArgs == nil {
		return false
	}
	spelled := 0
	for spelled < len(typeArgs) && !slices.EqualFunc(typeArgs, inferFromCall(f.target, typeArgs[:spelled], want), types.Identical) {
		spelled++
	}
	f.typeArgs = typeArgs[:spelled]
	return true
}

func isLimitError(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), runtimePath, "LimitError")
}

// withLast returns a signature with one more parameter. A variadic one that is not last any more is a slice.
func withLast(sig *types.Signature, last *types.Var) *types.Signature {
	params := append(slices.Collect(sig.Params().Variables()), last)
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), false)
}
