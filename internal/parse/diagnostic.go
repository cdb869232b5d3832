package parse

import (
	"cmp"
	"go/token"
	"slices"
	"strings"
)

// Diagnostic is a mistake in the user's source, at its position.
type Diagnostic struct {
	Pos     token.Position
	Message string // names other files as Pos does, by their absolute paths

	// Decorators are those in other packages that the mistake is about, as [Needed] has them in the message. "" if it is
	// one whoever needs it.
	Decorators string
}

// Needed says that decorators need what they cannot have.
func Needed(decorators string) string {
	if !strings.Contains(decorators, ", ") {
		return "the decorator of " + decorators + " needs it"
	}
	last := strings.LastIndex(decorators, ", ")
	return "the decorators of " + decorators[:last] + " and " + decorators[last+2:] + " need it"
}

// String returns the diagnostic as file:line:col: message.
func (d Diagnostic) String() string { return d.Pos.String() + ": " + d.Message }

// Diagnostics is an error made of all mistakes found, in the order of their positions.
type Diagnostics []Diagnostic //nolint:errname // the list is the subject; that it is an error comes second

// Error returns one line a diagnostic.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Sort orders the diagnostics by file, line, column and message, and drops equal ones. Of those that differ in the decorators
// only it makes one.
func (ds *Diagnostics) Sort() {
	slices.SortFunc(*ds, func(a, b Diagnostic) int {
		return cmp.Or(ComparePositions(a.Pos, b.Pos), cmp.Compare(a.Message, b.Message))
	})
	merged := (*ds)[:0]
	for _, d := range *ds {
		i := len(merged) - 1
		for i >= 0 && merged[i].Pos == d.Pos && !merged[i].sameBut(d) {
			i--
		}
		if i < 0 || merged[i].Pos != d.Pos {
			merged = append(merged, d)
			continue
		}
		merged[i] = merged[i].with(d.Decorators)
	}
	clear((*ds)[len(merged):])
	*ds = merged
}

// sameBut reports whether two diagnostics at one place differ in nothing but the decorators.
func (d Diagnostic) sameBut(other Diagnostic) bool {
	return (d.Decorators == "") == (other.Decorators == "") && d.general() == other.general()
}

// general is the message without the decorators.
func (d Diagnostic) general() string {
	if d.Decorators == "" {
		return d.Message
	}
	return strings.Replace(d.Message, Needed(d.Decorators), "", 1)
}

// with returns the diagnostic as one about more decorators.
func (d Diagnostic) with(decorators string) Diagnostic {
	if decorators == d.Decorators {
		return d
	}
	all := slices.Concat(strings.Split(d.Decorators, ", "), strings.Split(decorators, ", "))
	slices.Sort(all)
	names := strings.Join(slices.Compact(all), ", ")
	d.Message = strings.Replace(d.Message, Needed(d.Decorators), Needed(names), 1)
	d.Decorators = names
	return d
}

// ComparePositions orders positions by file, line and column.
func ComparePositions(a, b token.Position) int {
	return cmp.Or(
		cmp.Compare(a.Filename, b.Filename),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
	)
}
