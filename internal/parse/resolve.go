package parse

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// resolver finds the annotated interfaces of a package, and the limits of each method: those nearest to it.
type resolver struct {
	*source
	checked *checkedPackage
	diags   Diagnostics
	seen    map[*sourceFile]bool // whose misplaced directives are in diags
	unclear map[*sourceFile]bool // with interfaces of which nobody can tell whether they are annotated
}

func (r *resolver) errorf(pos token.Pos, format string, args ...any) {
	r.diags.add(r.fset, pos, fmt.Sprintf(format, args...))
}

// reached reports the mistakes in the directives of a file, of this package or of another one whose lines hold here.
func (r *resolver) reached(file *sourceFile) {
	if file.directives != nil && !r.seen[file] {
		r.seen[file] = true
		r.syntax(file) // of another package
		r.diags = append(r.diags, file.directives.diags...)
	}
}

// resolve returns the annotated interfaces of a file of pkg, or nil if it has none.
func (r *resolver) resolve(pkg *Package, file *sourceFile) *File {
	r.reached(file)
	if name := file.syntax.Name; name.Name != r.checked.types.Name() { // such a file is not type-checked at all
		r.errorf(name.Pos(), "package %s: want package %s as in the files before", name.Name, r.checked.types.Name())
		return nil
	}
	f := &File{
		Package:    pkg,
		Path:       file.path,
		Syntax:     file.syntax,
		Constraint: constraintOf(file.path, file.syntax),
	}
	for _, decl := range file.syntax.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, spec := range decl.Specs {
			if iface := r.resolveType(file, spec.(*ast.TypeSpec)); iface != nil {
				f.Interfaces = append(f.Interfaces, iface)
			}
		}
	}
	if len(f.Interfaces) == 0 {
		return nil
	}
	return f
}

// resolveType returns the interface that a type declaration declares, or nil if it is not annotated.
func (r *resolver) resolveType(file *sourceFile, spec *ast.TypeSpec) *Interface {
	d := &declaration{resolver: r, file: file, spec: spec, own: file.linesOnType(spec)}
	d.literal, _ = ast.Unparen(spec.Type).(*ast.InterfaceType)
	obj, ok := r.checked.info.Defs[spec.Name].(*types.TypeName)
	if !ok { // declared before
		r.unclear[file] = true
		if len(d.lines()) > 0 {
			r.errorsIn(spec)
		}
		return nil
	}
	if d.iface, ok = obj.Type().Underlying().(*types.Interface); !ok {
		if len(d.lines()) > 0 && !d.reportTypeErrors(obj) {
			d.refuse(kindOf(obj.Type()))
		}
		return nil
	}
	d.collect()
	if len(d.broken) > 0 {
		r.unclear[file] = true
	}
	if !d.isAnnotated() || d.reportTypeErrors(obj) {
		return nil
	}
	switch {
	case !d.iface.IsMethodSet():
		d.refuse("constraint")
		return nil
	case obj.Name() == "_":
		d.refuse("type called _")
		return nil
	case len(d.methods) == 0:
		d.refuseLines(d.lines(), "an interface without methods: there is nothing to limit, want none")
		return nil
	}
	unclear := d.checkLines() || file.hasLooseLines(spec)
	iface := &Interface{Name: spec.Name.Name, Object: obj, TypeParams: typeParamsOf(obj.Type())}
	for _, m := range d.methods {
		resolved := d.resolveMethod(m)
		resolved.Unclear = resolved.Unclear || unclear
		iface.Methods = append(iface.Methods, resolved)
	}
	return iface
}

// refuse reports that the lines of the declaration stand on something that cannot be decorated.
func (d *declaration) refuse(kind string) {
	d.refuseLines(d.lines(), "a "+kind+": "+belongs)
}

func (d *declaration) refuseLines(lines []*line, where string) {
	for _, l := range lines {
		if !l.nearMiss {
			d.errorf(l.pos, "directive on %s", where)
		}
	}
}

// resolveMethod returns the method with its nearest lines.
func (d *declaration) resolveMethod(m *method) *Method {
	lines, onMethod, agreed := d.nearest(m)
	resolved := &Method{Func: m.Func, Unclear: !agreed}
	for _, l := range lines {
		switch {
		case l.Annotation == nil: // reported
			resolved.Unclear = true
		case l.Exempt:
			resolved.Exempt = true
		default:
			limit := &Limit{Annotation: l.Annotation, Pos: l.pos, Default: !onMethod, obstacles: l.obstacles}
			if m.Exported() || m.Pkg().Path() == d.checked.types.Path() || !limit.MeansAll() {
				resolved.Limits = append(resolved.Limits, limit)
			}
		}
	}
	return resolved
}

// nearest returns the lines that hold for a method: those on it in the declaration, or else those on it where an
// embedded interface of the module declares it, or else those of the declaration on the embedded interfaces that bring
// it, or else those on the type. Lines that an embedded interface has on itself, or on what it embeds in turn, are
// defaults of its own: they do not come along. It reports whether they are on the method, and whether all interfaces
// that bring it agree on them.
func (d *declaration) nearest(m *method) (lines []*line, isOwn, agreed bool) {
	var onMethod, onEmbedded []claim
	for _, source := range m.sources {
		if source.via == nil && d.literal != nil && len(source.lines) > 0 {
			return source.lines, true, true
		}
		if len(source.lines) > 0 {
			onMethod = append(onMethod, claim(source))
		}
		if source.via != nil {
			if lines := matching(source.via.lines, m.Name()); len(lines) > 0 {
				onEmbedded = append(onEmbedded, claim{source.via.field.Type.Pos(), source.via, lines})
			}
		}
	}
	for i, claims := range [][]claim{onMethod, onEmbedded} {
		if len(claims) > 0 {
			return claims[0].lines, i == 0, d.agree(m, claims)
		}
	}
	return matching(d.own, m.Name()), false, true
}

// claim is a set of lines for a method that comes with one of the interfaces that bring it.
type claim struct {
	pos   token.Pos // of the method or the embedded interface
	via   *embedding
	lines []*line
}

// agree reports the claims on a method that differ from the first, and whether there are none: where they stand if that
// is in this package, or else where the declaration brings them together. The package that they come from is not at fault.
func (d *declaration) agree(m *method, claims []claim) bool {
	agreed := true
	first := texts(claims[0].lines)
	for _, other := range claims[1:] {
		if slices.Equal(first, texts(other.lines)) {
			continue
		}
		agreed = false
		pos, there := other.pos, ""
		if file := d.fileAt(pos); !slices.Contains(d.checked.files, file) {
			pos = d.spec.Type.Pos()
			if other.via != nil {
				pos = other.via.field.Type.Pos()
			}
			there = " at " + d.fset.PositionFor(other.pos, false).String()
		}
		d.errorf(pos, "%s: other limits%s than at %v: want the same ones, or a line on %[1]s in %[4]s itself",
			m.Name(), there, d.fset.PositionFor(claims[0].pos, false), d.spec.Name.Name)
	}
	return agreed
}

// texts returns what the lines say, in an order of its own.
func texts(lines []*line) []string {
	var texts []string
	for _, l := range lines {
		if l.Annotation != nil {
			texts = append(texts, l.String())
		}
	}
	slices.Sort(texts)
	return texts
}

// matching returns the lines that methods= does not keep from a method.
func matching(lines []*line, name string) []*line {
	var matched []*line
	for _, l := range lines {
		if l.Annotation == nil || l.Methods == nil ||
			slices.ContainsFunc(l.Methods, func(pattern string) bool { return matches(pattern, name) }) {
			matched = append(matched, l)
		}
	}
	return matched
}

// matches reports whether a pattern of methods=, a name or a prefix with a star, means a method.
func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// typeParamsOf returns the type parameters that a declaration declares, or nil.
func typeParamsOf(t types.Type) *types.TypeParamList {
	switch t := t.(type) {
	case *types.Alias:
		return t.TypeParams()
	case *types.Named:
		return t.TypeParams()
	}
	return nil
}

// kindOf returns the word for a type that is not an interface.
func kindOf(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Signature:
		return "function type"
	}
	return "type that is no interface"
}
