package generate

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// decorator is the plan of one decorator: its names, and its methods in the order of the interface.
type decorator struct {
	*builder
	iface       *parse.Interface
	name        string // of the type
	constructor string
	typeParams  []string
	mentioned   scope // names of types in signatures: predeclared ones, and the target's own
	printer     *printer
	methods     []*method
	receiver    string
	next        string // the field that holds the decorated value
	private     string // a method that only embedding can bring, since it is another package's own; "" if there is none
}

// decorator plans the decorator of an interface, all but the names that depend on the names of imports.
func (b *builder) decorator(iface *parse.Interface) *decorator {
	d := &decorator{builder: b, iface: iface}
	d.name, d.constructor = decoratorNames(iface.Name)
	if !b.checkReach(iface) {
		return d
	}
	b.checkNames(iface, d.name, d.constructor)
	b.lengths.readDeclaration(b.source.Package.Fset, iface)
	for _, m := range iface.Methods {
		if !b.checkMethodReach(m) {
			continue
		}
		if !m.Func.Exported() && m.Func.Pkg().Path() != b.target.Types.Path() {
			d.private = m.Func.Name()
			b.checkPrivate(iface, m)
			continue
		}
		d.methods = append(d.methods, b.method(d, m))
	}
	d.survey()
	d.nameTypeParams()
	d.nameFields()
	return d
}

// survey says every signature once, to learn what the file will mention and whether that can be said.
func (d *decorator) survey() {
	p := d.newPrinter(nil)
	if d.isElsewhere() {
		p.named(d.iface.Object, nil)
	}
	for i := range d.iface.TypeParams.Len() {
		p.typ(d.iface.TypeParams.At(i).Constraint())
	}
	if len(p.problems) > 0 {
		d.mistakes.add(d.iface.Object.Pos(),
			fmt.Sprintf("%s: no decorator%s can name its type parameters: %s", d.iface.Name, d.there(), d.problem(p)))
	}
	for _, m := range d.methods {
		for _, v := range slices.Concat(variables(m.sig.Params()), variables(m.sig.Results())) {
			p.problems = nil
			p.typ(v.Type())
			if len(p.problems) > 0 {
				d.mistakes.add(d.positionOf(m, v), fmt.Sprintf("%s: no decorator%s can name its types: %s", m.name, d.there(), d.problem(p)))
				break
			}
		}
	}
	d.imports.need(p.packages)
	d.mentioned = p.names
	for _, m := range d.methods {
		m.survey()
		d.mentioned = union(d.mentioned, m.uses)
	}
}

// positionOf returns where to report a mistake about a parameter or result of a method: where that is declared, or at the
// interface if another package declares it.
func (d *decorator) positionOf(m *method, v *types.Var) token.Pos {
	if m.Func.Pkg() == d.source.Package.Types {
		return v.Pos()
	}
	return d.iface.Object.Pos()
}

// nameTypeParams names the type parameters. They keep their names if they hide nothing that is mentioned where they
// reach: in all signatures, and in their blocks, where parameters are declared beside them.
func (d *decorator) nameTypeParams() {
	taken := union(predeclared, d.mentioned, d.userNames(), scope{d.iface.Name: true, d.name: true, "next": true, "limiter": true})
	chosen := map[*types.TypeParam]string{}
	for i := range d.iface.TypeParams.Len() {
		t := d.iface.TypeParams.At(i)
		if name := t.Obj().Name(); taken.free(name) {
			chosen[t] = name
			taken.add(name)
		}
	}
	for i := range d.iface.TypeParams.Len() {
		t := d.iface.TypeParams.At(i)
		if chosen[t] == "" {
			name := strings.TrimPrefix(t.Obj().Name(), "_")
			chosen[t] = taken.pick(name+"T", "T"+name) // no identifier begins with a digit
		}
		d.typeParams = append(d.typeParams, chosen[t])
	}
	d.printer = d.newPrinter(chosen)
}

// userNames are the names that the user has given to parameters of methods.
func (d *decorator) userNames() scope {
	all := scope{}
	for _, m := range d.methods {
		all.add(names(m.sig.Params())...)
	}
	return all
}

func (b *builder) newPrinter(typeParams map[*types.TypeParam]string) *printer {
	return &printer{
		target:     b.target.Types,
		hidden:     b.hidden,
		typeParams: typeParams,
		lengths:    b.lengths,
		reexports:  b.reexports,
		packages:   map[string]*types.Package{},
		names:      scope{},
		params:     scope{},
	}
}

// nameFields names the fields of the struct, which share one set of names with its methods.
func (d *decorator) nameFields() {
	taken := scope{"Unwrap": true}
	for _, m := range d.iface.Methods {
		taken.add(m.Func.Name())
	}
	if d.private == "" {
		d.next = taken.pick("next", "inner")
	} else {
		d.next = d.iface.Name // an embedded field has the name of its type
		if taken[d.next] {
			d.mistakes.add(d.iface.Object.Pos(), fmt.Sprintf("%s: has a method of its own name and one that is private to another package, %s: "+
				"no decorator can have both, want another name", d.iface.Name, d.private))
		}
		taken.add(d.next)
	}
	for _, m := range d.methods {
		if len(m.Limits) > 0 {
			field := lowerFirst(m.name)
			m.guard = taken.pick(field, field+"Guard")
		}
	}
}

// nameLocals chooses, last of all, the names inside of methods.
func (d *decorator) nameLocals() {
	imported := scope{}
	for _, name := range d.imports.names {
		imported.add(name)
	}
	typeParams := scope{} // they are declared beside the parameters
	typeParams.add(d.typeParams...)
	taken := union(predeclared, imported, typeParams, d.mentioned, d.userNames())
	// One letter of the last word, as one would choose by hand.
	last := lastWord(d.iface.Name)
	d.receiver = taken.pick(firstLetter(last), firstLetter(d.name), lowerFirst(last), "limited")
	outer := union(predeclared, imported, typeParams)
	inner := union(outer, scope{d.receiver: true})
	for _, m := range d.methods {
		m.nameParams(inner)
		m.nameLocals(outer)
	}
}

// has reports whether the interface has a method of that name.
func (d *decorator) has(method string) bool {
	for _, m := range d.iface.Methods {
		if m.Func.Name() == method {
			return true
		}
	}
	return false
}
