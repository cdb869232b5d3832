package main

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// plain returns the comment that limits every method that can be refused.
func (s *subject) plain() string {
	if len(s.limited) == s.methods {
		return "//ratelimit:count=5\n"
	}
	return directives{}.add("count=5", s.limited...).String()
}

// elaborate returns comments that give each of these methods slots, a refund, and what its parameters allow: a key, a cost
// and a condition to skip the limit. Other methods have fallbacks.
func (s *subject) elaborate() string {
	d := directives{}
	for _, m := range s.limited {
		d.add("count=5 name=slots algorithm=concurrency", m)
		if n := m.Signature().Results().Len(); n > 0 {
			err := "err"
			if hasParam(m, err) {
				err = fmt.Sprintf("ret%d", n-1)
			}
			d.add(fmt.Sprintf("count=5 name=refunded refund={%s == nil}", err), m)
		}
		for _, use := range []struct {
			attrs string
			fits  func(types.Type) bool
		}{
			{"count=5 name=keyed key=sweep:{$%d}", isKey},
			{"count=5 name=costly cost={len($%d)}", hasLength},
			{"count=5 name=skipped skip={$%d == nil}", mayBeNil},
		} {
			params := slices.Collect(m.Signature().Params().Variables())
			if i := slices.IndexFunc(params, func(v *types.Var) bool { return use.fits(v.Type()) }); i >= 0 {
				d.add(fmt.Sprintf(use.attrs, i), m)
			}
		}
	}
	for _, m := range s.others {
		d.add("count=5 name=slots algorithm=concurrency fallback="+s.fallback(m), m)
	}
	return d.String()
}

// fallback returns the name of a function that is called instead of a method.
func (s *subject) fallback(m *types.Func) string {
	return "insteadOf_" + s.object.Name() + "_" + m.Name()
}

func hasParam(m *types.Func, name string) bool {
	for param := range m.Signature().Params().Variables() {
		if param.Name() == name {
			return true
		}
	}
	return false
}

// directives has names of methods by what limits them.
type directives map[string][]string

func (d directives) add(attrs string, methods ...*types.Func) directives {
	for _, m := range methods {
		d[attrs] = append(d[attrs], m.Name())
	}
	return d
}

// String returns the comments.
func (d directives) String() string {
	var text strings.Builder
	for _, attrs := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&text, "//ratelimit:%s methods=%s\n", attrs, strings.Join(d[attrs], ","))
	}
	return text.String()
}

// isKey reports whether a value can be part of a key.
func isKey(t types.Type) bool {
	if basic, ok := t.Underlying().(*types.Basic); ok {
		return basic.Info()&(types.IsString|types.IsInteger|types.IsBoolean) != 0
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	object, _, _ := types.LookupFieldOrMethod(t, false, nil, "String")
	method, ok := object.(*types.Func)
	return ok && types.TypeString(method.Signature(), nil) == "func() string"
}

// hasLength reports whether a value has a length that is not known before the call.
func hasLength(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Slice, *types.Map, *types.Chan:
		return true
	}
	return false
}

// mayBeNil reports whether a value can be compared to nil.
func mayBeNil(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	}
	return false
}
