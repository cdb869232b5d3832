package parse

import (
	"errors"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

// MethodLines are the directives on a method of an interface. They hold where an interface of the same module embeds that
// one, and that package may be one whose source is not at hand there.
type MethodLines struct {
	Module  string
	Package string // path
	Method  string
	At      token.Position   // of the method's name, as the type checker of an importing package has it but for the column
	Pos     []token.Position // of the method's name in its file, and of each line
	Text    []string         // of the lines
}

// methodKey is what the type checker of an importing package still knows about the place of a method: paths of files may
// have been changed, and columns lost.
type methodKey struct {
	pkg, file string
	line      int
	name      string
}

// inheritedMethod is a method of a package without syntax, with the lines on it.
type inheritedMethod struct {
	module string
	pos    token.Pos
	lines  []*line
}

// methodLines returns the directives on all methods of interfaces in the files of a package.
func (s *source) methodLines(c *checkedPackage) []MethodLines {
	var all []MethodLines
	for _, file := range c.files {
		if file.directives == nil {
			continue
		}
		for field, lines := range file.directives.methods {
			name := field.Names[0]
			m := MethodLines{
				Module:  file.module,
				Package: c.types.Path(),
				Method:  name.Name,
				At:      s.fset.Position(name.Pos()),
				Pos:     []token.Position{s.fset.PositionFor(name.Pos(), false)},
			}
			for _, l := range lines {
				m.Pos = append(m.Pos, s.fset.PositionFor(l.pos, false))
				m.Text = append(m.Text, l.text)
			}
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b MethodLines) int { return ComparePositions(a.Pos[0], b.Pos[0]) })
	return all
}

// inherit makes the lines of other packages known. Their files get a place in the file set, in which every byte that
// somebody may ask for has its line and its column.
func (s *source) inherit(methods []MethodLines) {
	s.inherited = make(map[methodKey]*inheritedMethod)
	type extent struct{ lines, width int }
	extents := make(map[string]extent)
	for _, m := range methods {
		for i, pos := range m.Pos {
			e := extents[pos.Filename]
			e.lines = max(e.lines, pos.Line)
			e.width = max(e.width, pos.Column+1)
			if i > 0 {
				e.width = max(e.width, pos.Column+len(m.Text[i-1])+1)
			}
			extents[pos.Filename] = e
		}
	}
	files := make(map[string]*token.File)
	for name, e := range extents {
		files[name] = s.fset.AddFile(name, -1, e.lines*e.width)
		starts := make([]int, e.lines)
		for i := range starts {
			starts[i] = i * e.width
		}
		files[name].SetLines(starts)
	}
	posOf := func(p token.Position) token.Pos {
		return files[p.Filename].LineStart(p.Line) + token.Pos(p.Column-1)
	}
	for _, m := range methods {
		inherited := &inheritedMethod{module: m.Module, pos: posOf(m.Pos[0])}
		for i, text := range m.Text {
			annotation, err := annotations.Parse(text)
			l := &line{Annotation: annotation, pos: posOf(m.Pos[i+1]), text: text, src: []byte(text)}
			var mistakes annotations.Errors
			l.nearMiss = errors.As(err, &mistakes) && isNearMiss(text, mistakes) // the mistakes are that package's to report
			inherited.lines = append(inherited.lines, l)
		}
		s.inherited[methodKey{m.Package, filepath.Base(m.At.Filename), m.At.Line, m.Method}] = inherited
	}
}

// inheritedMethod returns what is known about a method of a package without syntax, or nil if there are no lines on it.
func (s *source) inheritedMethod(f *types.Func) *inheritedMethod {
	if len(s.inherited) == 0 || f.Pkg() == nil {
		return nil
	}
	at := s.fset.Position(f.Pos())
	return s.inherited[methodKey{plainPath(f.Pkg().Path()), filepath.Base(at.Filename), at.Line, f.Name()}]
}
