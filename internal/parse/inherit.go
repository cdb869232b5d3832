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
	Pos     token.Position // of the method's name in its file
	At      token.Position // the same as the type checker of an importing package has it, but for the column
	Lines   []MethodLine
}

// MethodLine is one of [MethodLines].
type MethodLine struct {
	Pos       token.Position // of its first slash
	Text      string
	Obstacles []Obstacle
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
				Pos:     s.fset.PositionFor(name.Pos(), false),
				At:      s.fset.Position(name.Pos()),
			}
			for _, l := range lines {
				m.Lines = append(m.Lines, MethodLine{Pos: s.fset.PositionFor(l.pos, false), Text: l.text})
			}
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b MethodLines) int { return ComparePositions(a.Pos, b.Pos) })
	return all
}

// inherit makes the lines of other packages known.
func (s *source) inherit(methods []MethodLines) {
	places := s.foreignPlaces(methods)
	s.inherited = make(map[methodKey]*inheritedMethod)
	for _, m := range methods {
		inherited := &inheritedMethod{module: m.Module, pos: places(m.Pos)}
		for _, ml := range m.Lines {
			annotation, err := annotations.Parse(ml.Text)
			l := &line{Annotation: annotation, pos: places(ml.Pos), text: ml.Text, src: []byte(ml.Text), obstacles: ml.Obstacles}
			var mistakes annotations.Errors
			l.nearMiss = errors.As(err, &mistakes) && isNearMiss(ml.Text, mistakes) // the mistakes are that package's to report
			inherited.lines = append(inherited.lines, l)
		}
		s.inherited[methodKey{m.Package, filepath.Base(m.At.Filename), m.At.Line, m.Method}] = inherited
	}
}

// foreignPlaces gives files that nobody has parsed a place in the file set, in which every byte of a line that somebody may
// ask for is at its line and column. It returns the function that finds it.
func (s *source) foreignPlaces(methods []MethodLines) func(token.Position) token.Pos {
	type extent struct{ lines, width int }
	extents := make(map[string]extent)
	extend := func(p token.Position, size int) {
		e := extents[p.Filename]
		extents[p.Filename] = extent{max(e.lines, p.Line), max(e.width, p.Column+size+1)}
	}
	for _, m := range methods {
		extend(m.Pos, 0)
		for _, l := range m.Lines {
			extend(l.Pos, len(l.Text))
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
	return func(p token.Position) token.Pos {
		return files[p.Filename].LineStart(p.Line) + token.Pos(p.Column-1)
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
