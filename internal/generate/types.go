package generate

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// printer turns types into code. It notes what the code mentions and what it could not say.
type printer struct {
	target     *types.Package              // where the code is to stand
	hidden     func(name string) bool      // whether that package declares a predeclared name anew
	typeParams map[*types.TypeParam]string // those that are renamed
	lengths    *lengths
	reexports  *reexports
	packages   map[string]*types.Package // mentioned ones by path
	names      scope                     // mentioned names: predeclared and of the target
	params     scope                     // mentioned type parameters
	problems   []string                  // types that no code of the target can name, as "q.hidden is not exported"
}

// typ returns t as it is written in the target. Aliases stay aliases: they may be all that can be named here.
func (p *printer) typ(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Alias:
		if obstacle := p.obstacle(t.Obj()); obstacle != "" && parse.OfC(t) {
			p.problems = append(p.problems, obstacle) // nothing else can be written for it
		} else if obstacle != "" {
			return p.typ(t.Rhs())
		}
		return p.named(t.Obj(), t.TypeArgs())
	case *types.Named:
		if p.obstacle(t.Obj()) != "" {
			if alias, args := p.reexport(t); alias != nil {
				return p.named(alias, args)
			}
		}
		return p.named(t.Obj(), t.TypeArgs())
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			p.packages["unsafe"] = types.Unsafe
			return jen.Qual("unsafe", "Pointer")
		}
		return p.predeclared(t.Name())
	case *types.TypeParam:
		return jen.Id(p.typeParam(t))
	case *types.Pointer:
		return jen.Op("*").Add(p.typ(t.Elem()))
	case *types.Slice:
		return jen.Index().Add(p.typ(t.Elem()))
	case *types.Array:
		return jen.Index(p.length(t)).Add(p.typ(t.Elem()))
	case *types.Map:
		return jen.Map(p.typ(t.Key())).Add(p.typ(t.Elem()))
	case *types.Chan:
		return p.channel(t)
	case *types.Signature:
		return jen.Func().Add(p.paramList(t, names(t.Params())), p.resultList(t.Results(), names(t.Results())))
	case *types.Struct:
		return p.structure(t)
	case *types.Interface:
		return p.iface(t)
	case *types.Union:
		return p.union(t)
	}
	p.problems = append(p.problems, fmt.Sprintf("%s has no spelling", t))
	return jen.Null()
}

func (p *printer) named(obj *types.TypeName, args *types.TypeList) *jen.Statement {
	if obj.Pkg() == nil {
		return p.predeclared(obj.Name())
	}
	if obstacle := p.obstacle(obj); obstacle != "" {
		p.problems = append(p.problems, obstacle)
	}
	if p.isLocal(obj.Pkg()) {
		p.names.add(obj.Name())
	} else {
		p.packages[obj.Pkg().Path()] = obj.Pkg()
	}
	code := jen.Qual(obj.Pkg().Path(), obj.Name())
	if args.Len() == 0 {
		return code
	}
	return code.Types(mapEach(args.Len(), func(i int) jen.Code { return p.typ(args.At(i)) })...)
}

// obstacle returns why a type, or what else a package declares, cannot be named in the target, or "".
func (p *printer) obstacle(obj types.Object) string {
	pkg := obj.Pkg()
	switch {
	case pkg == nil && p.hidden(obj.Name()):
		return p.hides(obj.Name())
	case pkg == nil || p.isLocal(pkg):
		return ""
	case !obj.Exported():
		return fmt.Sprintf("%s.%s is not exported", pkg.Name(), obj.Name())
	case isCommand(pkg, p.target.Path()):
		return pkg.Path() + " is a command, which cannot be imported"
	case !importable(pkg, p.target.Path()):
		return fmt.Sprintf("%s cannot be imported by %s", pkg.Path(), p.target.Path())
	}
	return ""
}

// isLocal reports whether the code is to stand in pkg itself.
func (p *printer) isLocal(pkg *types.Package) bool {
	return pkg == p.target || pkg.Path() == p.target.Path()
}

// isCommand reports whether pkg is a command to the package of that path, which is not the one with its tests.
func isCommand(pkg *types.Package, from string) bool {
	return pkg.Name() == "main" && pkg.Path()+"_test" != from
}

// importable reports whether the package of that path may import pkg.
func importable(pkg *types.Package, from string) bool {
	path := "/" + pkg.Path() + "/"
	if isCommand(pkg, from) || strings.HasPrefix(path, "/vendor/") { // of the standard library
		return false
	}
	i := strings.LastIndex(path, "/internal/")
	return i < 0 || strings.HasPrefix("/"+strings.TrimSuffix(from, "_test")+"/", path[:i+1]) && i > 0
}

// sameType are the spellings of one predeclared type.
var sameType = map[string]string{"any": "interface{}", "byte": "uint8", "uint8": "byte", "rune": "int32", "int32": "rune"}

func (p *printer) predeclared(name string) *jen.Statement {
	if p.hidden(name) {
		other := sameType[name]
		if other == "" || p.hidden(other) {
			p.problems = append(p.problems, p.hides(name))
		}
		name = other
	}
	p.names.add(name)
	return jen.Id(name)
}

// hides says that the target has another meaning for a predeclared name.
func (p *printer) hides(name string) string {
	return fmt.Sprintf("package %s declares its own %s", p.target.Name(), name)
}

func (p *printer) typeParam(t *types.TypeParam) string {
	name, ok := p.typeParams[t]
	if !ok {
		name = t.Obj().Name()
	}
	p.params.add(name)
	return name
}

func (p *printer) channel(t *types.Chan) *jen.Statement {
	elem := p.typ(t.Elem())
	switch t.Dir() {
	case types.SendOnly:
		return jen.Chan().Op("<-").Add(elem)
	case types.RecvOnly:
		return jen.Op("<-").Chan().Add(elem)
	}
	if c, ok := t.Elem().(*types.Chan); ok && c.Dir() == types.RecvOnly {
		elem = jen.Parens(elem) // chan <-chan T is a chan<- (chan T)
	}
	return jen.Chan().Add(elem)
}

func (p *printer) structure(t *types.Struct) *jen.Statement {
	return block("struct", mapEach(t.NumFields(), func(i int) jen.Code {
		field, code := t.Field(i), jen.Null()
		if !field.Exported() && !p.isLocal(field.Pkg()) {
			p.problems = append(p.problems, fmt.Sprintf("%s.%s is not exported", field.Pkg().Name(), field.Name()))
		}
		if !field.Embedded() {
			code = jen.Id(field.Name())
		}
		code.Add(p.typ(field.Type()))
		if tag := t.Tag(i); tag != "" { // a tag is part of the type: it must stay as it is
			code.Op(rawString(tag))
		}
		return code
	}))
}

// block returns a struct or interface type, on one line if it has one item.
func block(keyword string, items []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: keyword + "{", Close: "}", Separator: ";", Multi: len(items) > 1}, items...)
}

func rawString(s string) string {
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// isTall reports whether a type is written on more than one line.
func isTall(t types.Type) bool {
	switch t := t.(type) {
	case *types.Pointer:
		return isTall(t.Elem())
	case *types.Slice:
		return isTall(t.Elem())
	case *types.Array:
		return isTall(t.Elem())
	case *types.Chan:
		return isTall(t.Elem())
	case *types.Map:
		return isTall(t.Key()) || isTall(t.Elem())
	case *types.Struct:
		return t.NumFields() > 1
	case *types.Interface:
		return t.NumExplicitMethods()+t.NumEmbeddeds() > 1
	}
	return false
}

func (p *printer) iface(t *types.Interface) *jen.Statement {
	if t.IsImplicit() && !isPointer(t.EmbeddedType(0)) { // a constraint such as ~[]N
		return p.typ(t.EmbeddedType(0))
	}
	methods := slices.Collect(t.ExplicitMethods())
	slices.SortStableFunc(methods, func(a, b *types.Func) int { return cmp.Compare(a.Pos(), b.Pos()) })
	items := mapEach(t.NumEmbeddeds(), func(i int) jen.Code { return p.typ(t.EmbeddedType(i)) })
	for _, m := range methods {
		if !m.Exported() && !p.isLocal(m.Pkg()) {
			p.problems = append(p.problems, fmt.Sprintf("%s.%s is not exported", m.Pkg().Name(), m.Name()))
		}
		sig := m.Signature()
		items = append(items, jen.Id(m.Name()).Add(p.paramList(sig, names(sig.Params())), p.resultList(sig.Results(), names(sig.Results()))))
	}
	return block("interface", items)
}

// isPointer reports whether a constraint starts with a *, which would make [P *T] the length of an array.
func isPointer(t types.Type) bool {
	if u, ok := t.(*types.Union); ok && !u.Term(0).Tilde() {
		t = u.Term(0).Type()
	}
	_, ok := t.(*types.Pointer)
	return ok
}

func (p *printer) union(t *types.Union) *jen.Statement {
	terms := mapEach(t.Len(), func(i int) jen.Code {
		if term := t.Term(i); term.Tilde() {
			return jen.Op("~").Add(p.typ(term.Type()))
		}
		return p.typ(t.Term(i).Type())
	})
	return jen.Union(terms...)
}

func mapEach[T any](n int, f func(i int) T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = f(i)
	}
	return list
}
