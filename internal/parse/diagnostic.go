package parse

import (
	"cmp"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Diagnostic is a mistake in the user's source, at its position.
type Diagnostic struct {
	Pos     token.Position
	Message string
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

// Sort orders the diagnostics by file, line, column and message, and drops equal ones.
func (ds *Diagnostics) Sort() {
	slices.SortFunc(*ds, func(a, b Diagnostic) int {
		return cmp.Or(ComparePositions(a.Pos, b.Pos), cmp.Compare(a.Message, b.Message))
	})
	*ds = slices.Compact(*ds)
}

// ComparePositions orders positions by file, line and column.
func ComparePositions(a, b token.Position) int {
	return cmp.Or(
		cmp.Compare(a.Filename, b.Filename),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
	)
}

// Where returns a position in words, its file as seen from the folder of another position's.
func Where(pos, from token.Position) string {
	pos.Filename = PathFrom(from.Filename, pos.Filename)
	return pos.String()
}

// PathFrom returns the path of a file as seen from the folder of the file at from.
func PathFrom(from, path string) string {
	if name, err := filepath.Rel(filepath.Dir(from), path); err == nil {
		return filepath.ToSlash(name)
	}
	return path
}
