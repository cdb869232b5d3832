package parse

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// flatInterface is what an interface has with all that it embeds.
type flatInterface struct {
	methods []*types.Func // in the order of the source, those of embedded interfaces where they stand, each declaration once
	broken  []ast.Node    // embedded types without a meaning, nil for one whose syntax is not known
}

// flatten returns what an interface has. Interfaces that embed each other can have exponentially many ways to a method,
// so each interface is looked at once.
func (s *source) flatten(iface *types.Interface) *flatInterface {
	if flat := s.flat[iface]; flat != nil {
		return flat
	}
	flat := &flatInterface{}
	s.flat[iface] = flat // before it is complete: one that is in error may embed itself
	type declared struct {
		id  string // of a name that other declarations have at no position
		pos token.Pos
	}
	known := make(map[declared]bool)
	add := func(f *types.Func) {
		if at := (declared{f.Id(), f.Pos()}); !known[at] {
			known[at] = true
			flat.methods = append(flat.methods, f)
		}
	}
	elements(iface, s.literalOf(iface), add, func(t types.Type, field *ast.Field) {
		inner := s.flattenType(t, field)
		for _, f := range inner.methods {
			add(f)
		}
		flat.broken = append(flat.broken, inner.broken...)
	})
	return flat
}

// flattenType returns what an embedded type brings, which a field of the embedding interface names, nil if unknown.
func (s *source) flattenType(t types.Type, field *ast.Field) *flatInterface {
	switch inner := t.Underlying().(type) {
	case *types.Interface:
		return s.flatten(inner)
	case *types.Basic:
		if inner.Kind() != types.Invalid {
			break
		}
		if field == nil {
			return &flatInterface{broken: []ast.Node{nil}}
		}
		return &flatInterface{broken: []ast.Node{field}}
	}
	return &flatInterface{}
}

// elements calls method and embedded for what stands in an interface, in the order of the source. One without a literal
// only embeds, and has its embedded types in the order of the source anyway, or is error, or is of a package without
// syntax, where nobody knows which methods stand before an embedded type.
func elements(iface *types.Interface, literal *ast.InterfaceType, method func(*types.Func), embedded func(types.Type, *ast.Field)) {
	if literal == nil {
		methods := slices.SortedFunc(iface.ExplicitMethods(), func(a, b *types.Func) int { return cmp.Compare(a.Pos(), b.Pos()) })
		for _, f := range methods {
			method(f)
		}
		for t := range iface.EmbeddedTypes() {
			embedded(t, nil)
		}
		return
	}
	explicit := make(map[token.Pos]*types.Func)
	for f := range iface.ExplicitMethods() {
		explicit[f.Pos()] = f
	}
	next := 0 // embedded type
	for _, field := range literal.Methods.List {
		if len(field.Names) > 0 {
			if f := explicit[field.Names[0].Pos()]; f != nil {
				method(f)
			}
		} else if next < iface.NumEmbeddeds() {
			embedded(iface.EmbeddedType(next), field)
			next++
		}
	}
}

// literalOf returns the syntax of an interface with methods of its own, or nil: an interface does not know its syntax, so
// it is found by way of the methods.
func (s *source) literalOf(iface *types.Interface) *ast.InterfaceType {
	if iface.NumExplicitMethods() == 0 {
		return nil
	}
	pos := iface.ExplicitMethod(0).Pos()
	if file := s.fileAt(pos); file != nil {
		m, _ := file.methodAt(pos)
		return m.literal
	}
	return nil
}
