// Package parse loads Go packages and returns their annotated interfaces in source order, every mistake at its
// position.
package parse

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

// Package is a loaded package that has at least one annotated interface.
type Package struct {
	Fset   *token.FileSet
	Types  *types.Package
	Module string // path of its module; "" outside of modules
	Dir    string
	Files  []*File // those with annotated interfaces, sorted by path
	// Names holds every name declared at package level, in the package's files and its tests alike but not in our own
	// generated files, with its position: what a generated file of this package must not declare or import again.
	Names map[string]token.Pos
	// Mistaken is true if there are diagnostics about the package. What they are about is missing here; the rest is
	// good for finding more mistakes.
	Mistaken bool
}

// File is a source file that has at least one annotated interface.
type File struct {
	Package    *Package
	Path       string // absolute
	Syntax     *ast.File
	Constraint string // build constraint of the file and of its name, as an expression such as "linux && !cgo"; "" if none
	Interfaces []*Interface
}

// Interface is an annotated interface, or an alias or defined type of one.
type Interface struct {
	Name       string
	Object     *types.TypeName
	TypeParams *types.TypeParamList // of the declaration; nil if it is not generic
	Methods    []*Method            // in source order, embedded interfaces expanded where they stand
}

// Method is a method of an annotated interface. Its limits are those nearest to it: its own, or else the embedded
// interface's, or else the interface's.
type Method struct {
	Func   *types.Func // its signature is that of the interface, with type arguments substituted
	Limits []*Limit    // nil if calls are forwarded without a limit
	Exempt bool        // a //ratelimit:skip line says so
}

// Limit is a directive that holds for a method.
type Limit struct {
	*annotations.Annotation
	Pos token.Pos // of the directive's first slash
}
