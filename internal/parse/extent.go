package parse

import (
	"go/ast"
	"go/token"
	"maps"

	"golang.org/x/tools/go/packages"
)

// level is how much of a declaration is kept.
type level int

const (
	nothing level = iota
	shape         // the size of a type, and whether its values can be compared
	whole         // what it mentions, but of a type only those fields and methods that somebody can ask for
	asked         // the same, and somebody can ask for the methods of an interface
)

// extent is what is kept of a package.
type extent struct {
	*demand
	pkg     *packages.Package
	files   []*outline
	index   map[string][]*piece // by the names that they may declare, methods excepted
	methods map[string][]*piece // by the names of their types
	types   []*unit             // those that are kept

	// What others mention since the last step.
	wanted map[string]level
	all    bool // whatever they can

	// What is mentioned here since the last step, for others.
	mentions []mention
	fields   []string // names of fields and methods

	sent  map[mention]bool
	needs map[*packages.Package]bool

	assembled bool
}

// mention is a name that other packages mention, "" for all that they can.
type mention struct {
	pkg   *packages.Package
	name  string
	level level
}

func newExtent(d *demand, p *packages.Package) *extent {
	return &extent{
		demand:  d,
		pkg:     p,
		index:   make(map[string][]*piece),
		methods: make(map[string][]*piece),
		wanted:  make(map[string]level),
		sent:    make(map[mention]bool),
		needs:   make(map[*packages.Package]bool),
	}
}

// cuts reports whether something is left out of the declarations that are kept.
func (x *extent) cuts() bool { return x.sparse && !isOurs(x.pkg) }

// step keeps what is wanted, and what this mentions in turn.
func (x *extent) step() {
	if x.files == nil {
		x.open()
	}
	if x.all {
		x.keepAll()
	}
	for name, l := range x.wanted {
		x.need(name, l)
	}
	x.all = false
	clear(x.wanted)
	for i := 0; i < len(x.types); i++ { // there may be more names than before, and will be more types
		x.keepMembers(x.types[i])
	}
}

// open finds out what the package declares.
func (x *extent) open() {
	for _, path := range x.pkg.GoFiles {
		if x.read(x.pkg, path).generated {
			continue
		}
		o := x.outline(x.pkg, path)
		x.files = append(x.files, o)
		for _, p := range o.pieces {
			if p.receiver != "" {
				x.methods[p.receiver] = append(x.methods[p.receiver], p)
				continue
			}
			for _, name := range p.names {
				x.index[name] = append(x.index[name], p)
			}
		}
	}
	for name, methods := range maps.Clone(x.methods) {
		if t := x.aliased(name); t != name {
			x.methods[t] = append(x.methods[t], methods...)
		}
	}
}

// aliased returns the type of the package that an alias stands for: it may be the receiver of methods.
func (x *extent) aliased(name string) string {
	for range len(x.index) { // aliases that name each other have no end
		pieces := x.index[name]
		if len(pieces) != 1 || !pieces[0].mayBeAlias() {
			break
		}
		units := x.units(pieces[0], name)
		if len(units) != 1 {
			break
		}
		spec, ok := units[0].spec.(*ast.TypeSpec)
		if !ok || !spec.Assign.IsValid() {
			break
		}
		target, ok := ast.Unparen(spec.Type).(*ast.Ident)
		if !ok {
			break
		}
		name = target.Name
	}
	return name
}

// keepAll keeps all declarations of a package of the user, and those of others that are exported.
func (x *extent) keepAll() {
	if !isOurs(x.pkg) {
		for name := range x.index {
			if token.IsExported(name) {
				x.need(name, asked)
			}
		}
		return
	}
	for _, o := range x.files {
		for _, p := range o.pieces {
			for _, u := range p.units {
				x.raise(u, whole)
			}
		}
		x.imports(o)
	}
}

// imports mentions what a file of the user imports whatever names it mentions, and what its directives mention.
func (x *extent) imports(o *outline) {
	for _, spec := range o.file.syntax.Imports {
		imported := x.pkg.Imports[pathOf(spec)]
		if imported != nil && (spec.Name != nil && spec.Name.Name == "." || len(imported.Errors) > 0) { // an error may be about the name
			x.foreign(imported, "", whole)
		}
	}
	if o.file.directives == nil {
		return
	}
	for _, expr := range o.file.directives.exprs {
		x.mention(o, expr, asked)
	}
}

// units returns the units of a piece that declare a name.
func (x *extent) units(p *piece, name string) []*unit {
	if !p.parse() {
		x.misread.Store(true)
	}
	return p.named[name]
}

// need keeps what a name of the package stands for, and reports whether that is something.
func (x *extent) need(name string, l level) bool {
	found := false
	for _, p := range x.index[name] {
		for _, u := range x.units(p, name) {
			x.raise(u, l)
			found = true
		}
	}
	return found
}
