package generate

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// mistakes collects diagnostics. What is wrong with several methods for one reason is one diagnostic: a line on an
// interface may stand for hundreds of them.
type mistakes struct {
	fset    *token.FileSet
	single  parse.Diagnostics
	methods []methodMistake
}

type methodMistake struct {
	pos       token.Pos
	format    string // with a %s for the methods
	names     []string
	decorator string // as a [parse.Diagnostic] has it
}

func newMistakes(fset *token.FileSet) *mistakes { return &mistakes{fset: fset} }

func (m *mistakes) add(pos token.Pos, message string) { m.addFor("", pos, message) }

// addFor reports a mistake about a decorator in another package, or in none if that is "".
func (m *mistakes) addFor(decorator string, pos token.Pos, message string) {
	m.single = append(m.single, parse.Diagnostic{Pos: m.fset.PositionFor(pos, false), Message: parse.InC(message), Decorators: decorator})
}

// addMethod reports a mistake whose message has a %s for the method. Decorators of several interfaces may report the
// same one.
func (m *mistakes) addMethod(pos token.Pos, format, method string) {
	m.addMethodFor("", pos, format, method)
}

// addMethodFor reports a mistake as [mistakes.addMethod] and [mistakes.addFor] do.
func (m *mistakes) addMethodFor(decorator string, pos token.Pos, format, method string) {
	for i := range m.methods {
		if known := &m.methods[i]; known.pos == pos && known.format == format {
			if !slices.Contains(known.names, method) {
				known.names = append(known.names, method)
			}
			return
		}
	}
	m.methods = append(m.methods, methodMistake{pos, format, []string{method}, decorator})
}

// err returns all mistakes in order, or nil.
func (m *mistakes) err() error {
	all := slices.Clone(m.single)
	for _, each := range m.methods {
		all = append(all, parse.Diagnostic{
			Pos:        m.fset.PositionFor(each.pos, false),
			Message:    parse.InC(fmt.Sprintf(each.format, enumerate(each.names))),
			Decorators: each.decorator,
		})
	}
	if len(all) == 0 {
		return nil
	}
	all.Sort()
	return all
}

// enumerate returns names as words, cut short if they are many.
func enumerate(names []string) string {
	const most = 5
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), n-most+1)
	}
	return enumerateAll(names)
}

// enumerateAll returns names as words: A, B and C.
func enumerateAll(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
