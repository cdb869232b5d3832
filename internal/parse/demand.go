package parse

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sync"

	"golang.org/x/tools/go/packages"
)

// demand finds out what the packages of the user need of those that they depend on, so that nothing else is parsed and
// type-checked: the declarations that something mentions, and what these mention in turn. Of a type it keeps those methods
// and fields only whose name somebody can ask for; other fields keep their size, see shapes.
//
// No type changes that can be written outside of its package. If something is missing that matters after all, there is an error:
// [Listing.LoadSparse] then loads all.
type demand struct {
	*source
	sparse  bool              // or else all is kept that other packages can come to see
	stubs   map[string]string // what generated files mention, by import path: sources that declare it
	extents map[*packages.Package]*extent
	names   map[string]bool // of fields and methods that somebody can ask for
}

var (
	// always are the methods and fields that decorators and their generator ask for, whatever else does.
	always = slices.Concat([]string{"Context", "Error", "MarshalText", "String"}, ofContexts, ofExchanges, ofLocks)
	// ofContexts are those of context.Context, which parameters of other types may have.
	ofContexts = []string{"Deadline", "Done", "Err", "Value"}
	// ofExchanges are the methods and fields of what has a request and the response to it, and those of the response.
	ofExchanges = []string{"Abort", "Request", "Response", "SetRequest", "Writer", "Header", "Write", "WriteHeader"}
	// ofLocks are those that also matter in parts of a type that nobody can name: values that have them must not be copied.
	ofLocks = []string{"Lock", "Unlock"}
)

func newDemand(s *source) *demand {
	return &demand{source: s, extents: make(map[*packages.Package]*extent), names: make(map[string]bool)}
}

// thin leaves out from now on what nothing needs.
func (d *demand) thin(stubs map[string]string) {
	d.sparse, d.stubs = true, stubs
	for _, name := range always {
		d.names[name] = true
	}
}

// settle finds out what the packages need.
func (d *demand) settle(pkgs []*packages.Package) {
	for _, p := range pkgs {
		d.add(mention{pkg: p})
	}
	grown := false // there are more names than before
	for {
		var busy []*extent
		for _, x := range d.extents {
			if grown || x.all || len(x.wanted) > 0 {
				busy = append(busy, x)
			}
		}
		if len(busy) == 0 {
			break
		}
		var wg sync.WaitGroup
		for _, x := range busy {
			wg.Go(func() {
				d.slots <- struct{}{}
				x.step()
				<-d.slots
			})
		}
		wg.Wait()
		known := len(d.names)
		for _, x := range busy {
			for _, name := range x.fields {
				d.names[name] = true
			}
			for _, m := range x.mentions {
				d.add(m)
			}
			x.fields, x.mentions = nil, nil
		}
		grown = len(d.names) > known
	}
	for p, x := range d.extents {
		if !x.assembled {
			x.assembled = true
			x.assemble(d.unchecked(p))
		}
	}
}

// add notes a mention, until the next step of its package. All is kept that the user's packages have.
func (d *demand) add(m mention) {
	if m.pkg.Types != nil || m.pkg.PkgPath == "unsafe" {
		return
	}
	x := d.extents[m.pkg]
	if x == nil {
		x = newExtent(d, m.pkg)
		d.extents[m.pkg] = x
		x.all = isOurs(m.pkg) || !d.sparse
		d.addStub(x)
	}
	if m.name == "" {
		x.all = true
	} else {
		x.wanted[m.name] = max(x.wanted[m.name], m.level)
	}
}

// addStub notes what generated files mention of a package.
func (d *demand) addStub(x *extent) {
	source, ok := d.stubs[x.pkg.PkgPath]
	if !ok {
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return // for the verification to say
	}
	names := make(map[string]token.Pos)
	declared(file, names)
	for name := range names {
		x.wanted[name] = asked
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl: // perhaps a method
			d.names[n.Name.Name] = true
		case *ast.StructType:
			for _, field := range n.Fields.List {
				d.names[field.Names[0].Name] = true
			}
		}
		return true
	})
}
