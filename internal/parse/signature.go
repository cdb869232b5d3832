package parse

import (
	"errors"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// syntax reports what the parser could not read of a file.
func (r *resolver) syntax(file *sourceFile) {
	var list scanner.ErrorList
	switch err := file.parseErr; {
	case err == nil:
	case r.parsed[file.path] != nil: // who has parsed it has said so
	case errors.As(err, &list):
		for _, e := range list {
			r.diags = append(r.diags, Diagnostic{Pos: e.Pos, Message: e.Msg})
		}
	default:
		r.diags = append(r.diags, Diagnostic{Pos: token.Position{Filename: file.path}, Message: err.Error()})
	}
}

// reportEndless reports types of the package, or of one that it depends on, that are instantiated without end, and whether there
// are any: to look for a field or a method of one takes forever.
func (r *resolver) reportEndless() bool {
	before := len(r.diags)
	for _, err := range r.errs {
		if isCycle(err) {
			if file := r.fileAt(err.Pos); file != nil && r.dependsOn(r.checked, r.packageOf(file), make(map[*checkedPackage]bool)) {
				r.explainError(err)
			}
		}
	}
	return len(r.diags) > before
}

// reportTypeErrors reports the errors of the type checker that touch the declaration: those inside it, and those that
// make a type of its methods' signatures unknown. It reports whether there are any. All others are left to the compiler:
// they may be due to the very file that is about to be generated.
func (d *declaration) reportTypeErrors(obj *types.TypeName) bool {
	before := len(d.diags)
	d.errorsIn(d.spec)
	if t := obj.Type(); len(d.diags) == before && (unwritable.in(t) || t.Underlying() == types.Typ[types.Invalid] || unwritable.inConstraints(t)) {
		d.explain(d.file, d.spec)
	}
	for _, node := range d.broken {
		if file := d.fileAt(node.Pos()); file != nil {
			d.explain(file, node)
		}
	}
	for _, m := range d.methods {
		if !unwritable.in(m.Signature()) {
			continue
		}
		pos := m.sources[0].pos
		if file := d.fileAt(pos); file != nil {
			declared, _ := file.methodAt(pos)
			d.explain(file, declared.field)
		}
	}
	return len(d.diags) > before
}

// errorsIn reports the type errors inside a node.
func (r *resolver) errorsIn(node ast.Node) {
	for _, err := range r.errs {
		if node.Pos() <= err.Pos && err.Pos < node.End() && !strings.HasPrefix(err.Msg, "\t") { // "\tother declaration of"
			r.explainError(err)
		}
	}
}

// explainError reports a type error, or that of an import from which it follows.
func (r *resolver) explainError(err types.Error) {
	message := strings.ReplaceAll(err.Msg, "\n\t", " ")
	if name, ok := undefinedName(message); ok {
		if file := r.fileAt(err.Pos); file != nil {
			before := len(r.diags)
			if r.blameImport(file, name, file.qualifierAt(err.Pos)) {
				return
			}
			if len(r.diags) > before {
				message += ": " + r.diags[before].Want()
				r.diags = r.diags[:before]
			}
		}
	}
	r.errorf(err.Pos, "%s", message)
}

// explain reports why a type inside the node is unknown.
func (d *declaration) explain(file *sourceFile, node ast.Node) {
	before := len(d.diags)
	d.trace(d.packageOf(file), file, node, make(map[ast.Node]bool))
	if len(d.diags) == before {
		d.errorf(node.Pos(), "unknown type: want one that compiles")
	}
}

// trace reports the type errors inside the node, or else those of what it refers to: the type checker is silent about
// the use of what it has complained about before, and of what comes from C. It follows them to the user's other packages.
func (d *declaration) trace(c *checkedPackage, file *sourceFile, node ast.Node, seen map[ast.Node]bool) {
	if seen[node] {
		return
	}
	seen[node] = true
	before := len(d.diags)
	d.errorsIn(node)
	if len(d.diags) > before {
		return
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // its names are its own
			ast.Inspect(n.Type, visit)
			return false
		case *ast.FuncDecl: // so is its name if it is a method
			ast.Inspect(n.Type, visit)
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				d.traceSelector(c, file, x, n.Sel.Name, seen)
			}
			return false
		case *ast.Ident:
			d.traceName(c, n.Name, seen)
		}
		return true
	}
	ast.Inspect(node, visit)
}

func (d *declaration) traceSelector(c *checkedPackage, file *sourceFile, x *ast.Ident, name string, seen map[ast.Node]bool) {
	spec := file.imports[x.Name]
	switch {
	case x.Name == "C":
		d.refuseC(c, x, name)
		return
	case spec == nil:
		return
	}
	d.importErrors(file, pathOf(spec))
	imported := c.pkg.Imports[pathOf(spec)]
	switch {
	case imported == nil:
	case isOurs(imported):
		d.traceName(d.check(imported), name, seen)
	default: // where it is unknown, it is so to those who do not ask cgo
		there := d.check(imported)
		if obj := there.types.Scope().Lookup(name); obj != nil && unwritable.in(obj.Type()) && usesC(there) {
			d.refuseC(there, x, name)
		}
	}
}

// refuseC reports a type that comes from the C of a package: it cannot be in a signature, and elsewhere must be known, as behind
// an alias.
func (d *declaration) refuseC(c *checkedPackage, x *ast.Ident, name string) {
	isAliased := false
	if file := d.fileAt(x.Pos()); file != nil {
		spec, ok := file.declarationAt(x.Pos()).(*ast.TypeSpec)
		isAliased = ok && spec.Assign.IsValid()
	}
	switch {
	case d.spec != nil && (!isAliased || c.cgoErr == nil):
		d.errorf(x.Pos(), "%s.%s: a type of cgo in the signature of a limited interface is not supported: want a Go type", x.Name, name)
	case c.cgoErr != nil:
		d.errorf(x.Pos(), "could not ask cgo for %s.%s (%v)", x.Name, name, c.cgoErr)
	}
}

func (d *declaration) traceName(c *checkedPackage, name string, seen map[ast.Node]bool) {
	obj := c.types.Scope().Lookup(name)
	if obj == nil {
		return
	}
	if file := d.fileAt(obj.Pos()); file != nil {
		d.trace(c, file, file.declarationAt(obj.Pos()), seen)
	}
}

// packageOf returns the package of a file, the resolver's own if that has it.
func (r *resolver) packageOf(file *sourceFile) *checkedPackage {
	if !slices.Contains(r.checked.files, file) {
		for _, c := range r.pkgs {
			if slices.Contains(c.files, file) {
				return c
			}
		}
	}
	return r.checked
}
