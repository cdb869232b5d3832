package parse

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// declaration is an interface on its way to an [Interface].
type declaration struct {
	*resolver
	file     *sourceFile
	spec     *ast.TypeSpec
	literal  *ast.InterfaceType // nil for an alias or a defined type of another interface
	iface    *types.Interface
	own      []*line // on the type
	embedded []*embedding
	methods  []*method
	broken   []ast.Node // embedded types without a meaning
}

// embedding is an embedded type of the declaration.
type embedding struct {
	field  *ast.Field
	lines  []*line
	brings []string // names of methods
}

// method is a method of the declaration with the places that declare it, several if it is brought more than once.
type method struct {
	*types.Func
	sources []methodSource
}

// methodSource is one way in which a declaration comes by a method.
type methodSource struct {
	pos   token.Pos  // of the method's name where it is declared
	via   *embedding // nil if no embedded type brings it
	lines []*line    // on the method
}

// collect finds the methods of the interface in the order of the source, and the lines on them.
func (d *declaration) collect() {
	complete := make(map[string]*types.Func)
	for m := range d.iface.Methods() {
		complete[m.Id()] = m
	}
	vias := make(map[*ast.Field]*embedding)
	if d.literal != nil {
		for _, field := range d.literal.Methods.List {
			if len(field.Names) == 0 {
				e := &embedding{field: field, lines: d.file.linesOnEmbedded(field)}
				d.embedded = append(d.embedded, e)
				vias[field] = e
			}
		}
	}
	known := make(map[string]*method)
	visit := func(f *types.Func, via *embedding) {
		m := known[f.Id()]
		if m == nil {
			if complete[f.Id()] == nil {
				return // the interface has errors
			}
			m = &method{Func: complete[f.Id()]}
			known[f.Id()] = m
			d.methods = append(d.methods, m)
		}
		if via != nil {
			via.brings = append(via.brings, f.Name())
		}
		pos, lines := d.linesOnMethod(f)
		m.sources = append(m.sources, methodSource{pos: pos, via: via, lines: lines})
	}
	add := func(flat *flatInterface, via *embedding) {
		for _, f := range flat.methods {
			visit(f, via)
		}
		for _, node := range flat.broken {
			if node == nil {
				node = d.spec.Type
			}
			d.broken = append(d.broken, node)
		}
	}
	if d.literal == nil {
		add(d.flatten(d.iface), nil)
		return
	}
	elements(d.iface, d.literal, func(f *types.Func) { visit(f, nil) }, func(t types.Type, field *ast.Field) {
		add(d.flattenType(t, field), vias[field])
	})
}

// isAnnotated reports whether a directive holds for the declaration. Lines on the methods of another interface do where
// that one is embedded, but a new name for it is no wish for a decorator.
func (d *declaration) isAnnotated() bool {
	if len(d.lines()) > 0 {
		return true
	}
	for _, m := range d.methods {
		for _, source := range m.sources {
			if source.via != nil && len(source.lines) > 0 {
				return true
			}
		}
	}
	return false
}

// lines returns the lines that stand in the declaration, whatever it means.
func (d *declaration) lines() []*line {
	if d.file.directives == nil {
		return nil
	}
	lines := slices.Clone(d.own)
	if d.literal != nil {
		ast.Inspect(d.literal, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				lines = append(lines, d.file.directives.embedded[field]...)
				lines = append(lines, d.file.directives.methods[field]...)
			}
			return true
		})
	}
	return lines
}

// linesOnMethod returns where a method is declared, and the lines on it there, in this module: those of other modules are
// theirs.
func (d *declaration) linesOnMethod(f *types.Func) (token.Pos, []*line) {
	file := d.fileAt(f.Pos())
	if file == nil {
		if m := d.inheritedMethod(f); m != nil && d.sharesModule(m.module) {
			return m.pos, m.lines
		}
		return f.Pos(), nil
	}
	if file.directives == nil || !d.sharesModule(file.module) {
		return f.Pos(), nil
	}
	d.reached(file)
	m, _ := file.methodAt(f.Pos())
	return f.Pos(), file.directives.methods[m.field]
}

// sharesModule reports whether lines of a module hold in the declaration.
func (d *declaration) sharesModule(module string) bool {
	return module == d.file.module || module == "" || d.file.module == ""
}
