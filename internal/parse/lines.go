package parse

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkLines reports the lines of the declaration that cannot hold where they stand, and whether there are any.
func (d *declaration) checkLines() bool {
	before := len(d.diags)
	var names []string
	for _, m := range d.methods {
		names = append(names, m.Name())
		for _, source := range m.sources {
			d.checkExempt(source.lines)
			for _, l := range source.lines {
				if l.Annotation != nil && l.Methods != nil {
					d.errorf(l.at(l.Offset("methods")), "methods on a method: want it on an interface or an embedded one")
				}
			}
		}
	}
	for _, l := range d.own {
		if l.Annotation != nil && l.Exempt {
			d.errorf(l.pos, "skip on an interface: want it on a method or an embedded interface")
		}
	}
	d.checkPatterns(d.own, names)
	for _, e := range d.embedded {
		d.checkExempt(e.lines)
		if len(e.brings) > 0 {
			d.checkPatterns(e.lines, e.brings)
			continue
		}
		d.refuseLines(e.lines, "an interface without methods: there is nothing to limit, want none")
	}
	return len(d.diags) > before
}

// checkExempt reports a skip beside limits.
func (d *declaration) checkExempt(lines []*line) {
	for _, l := range lines {
		if l.Annotation != nil && l.Exempt && len(lines) > 1 {
			d.errorf(l.pos, "skip beside another directive: want one of them")
		}
	}
}

// checkPatterns reports the patterns of methods= that mean none of the methods.
func (d *declaration) checkPatterns(lines []*line, names []string) {
	for _, l := range lines {
		if l.Annotation == nil {
			continue
		}
		offset := l.ValueOffset("methods")
		for _, pattern := range l.Methods {
			// Patterns are plain words, so they stand in the text as they are.
			if i := strings.Index(l.text[offset:], pattern); i >= 0 {
				offset += i
			}
			if !matchesAny(pattern, names) {
				d.errorf(l.at(offset), "methods=%s: no such method: want one of %s", pattern, some(names))
			}
			offset += len(pattern)
		}
	}
}

func matchesAny(pattern string, names []string) bool {
	for _, name := range names {
		if matches(pattern, name) {
			return true
		}
	}
	return false
}

// some lists names, of which there may be hundreds.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// hasLooseLines reports whether a line that is attached to nothing is in a type's declaration or beside it, so that it may
// have been meant for the type or for something in it.
func (f *sourceFile) hasLooseLines(spec *ast.TypeSpec) bool {
	if f.directives == nil {
		return false
	}
	start, end := f.syntax.FileStart, f.syntax.FileEnd
	note := func(n ast.Node) {
		if n.End() <= spec.Pos() {
			start = max(start, n.End())
		}
		if spec.End() <= n.Pos() {
			end = min(end, n.Pos())
		}
	}
	for _, decl := range f.syntax.Decls {
		note(decl)
	}
	for other := range typeSpecs(f.syntax) {
		note(other)
	}
	return slices.ContainsFunc(f.directives.loose, func(pos token.Pos) bool { return start <= pos && pos < end })
}

// linesOnType returns the lines on a type of the file.
func (f *sourceFile) linesOnType(spec *ast.TypeSpec) []*line {
	if f.directives == nil {
		return nil
	}
	return f.directives.types[spec]
}

// linesOnEmbedded returns the lines on an embedded type of an interface in the file.
func (f *sourceFile) linesOnEmbedded(field *ast.Field) []*line {
	if f.directives == nil {
		return nil
	}
	return f.directives.embedded[field]
}
