// Package parse loads Go packages and returns their annotated interfaces in source order, every mistake at its
// position.
package parse

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

// Package is a loaded package, with or without annotated interfaces.
type Package struct {
	Fset   *token.FileSet
	Types  *types.Package // nil if the package was not type-checked, since it cannot have annotated interfaces
	Module string         // path of its module; "" outside of modules
	Dir    string
	Files  []*File // those with annotated interfaces, sorted by path
	// Names holds every name declared at package level, in the package's files and its tests alike, in this build and in
	// others, but not in our own generated files, with its position: what a generated file of this package must not
	// import again. What it must not declare again is for [File.Taken] to say. It is nil if there are no Files.
	Names map[string]token.Pos
	// FileNames holds every name that an import brings to a file of the package or its tests in this build, with the
	// import's position: its own name, or with a dot those of the package. Nothing at package level may have such a name,
	// though another file may import under it. It is nil if there are no Files.
	FileNames map[string]token.Pos
	// Unannotated lists the absolute paths of the files that were looked at in this build and certainly have no annotated
	// interface: neither has what the package imports mistakes that could hide one. Our own generated files are not listed.
	Unannotated []string
	// Mistaken is true if there are diagnostics about the package. What they are about is missing here; the rest is
	// good for finding more mistakes.
	Mistaken bool
	// Sparse is true if nothing can be said about what the packages that it imports do not have, see [Listing.LoadSparse].
	Sparse bool

	listed    *listing
	incoming  []*File              // of other packages, whose decorators go into this one
	elsewhere map[string]token.Pos // those of Names that no file of this build declares
	source    *source              // where it comes from
	checked   *checkedPackage      // what Types and Names come from; nil as Types is
}

// Sources returns the files whose decorators go into the package: its own ones, and those that [Config.Into] brings.
func (p *Package) Sources() []*File { return slices.Concat(p.Files, p.incoming) }

// File is a source file that has at least one annotated interface.
type File struct {
	Package    *Package
	Path       string // absolute
	Syntax     *ast.File
	Constraint string // build constraint of the file and of its name, as an expression such as "linux && !cgo"; "" if none
	Interfaces []*Interface

	target *Package // nil if that is Package
}

// Target returns the package that the decorators of the file's interfaces go into: that of the file, or the one that
// [Config.Into] names.
func (f *File) Target() *Package {
	if f.target == nil {
		return f.Package
	}
	return f.target
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

	// Unclear is true if limits may be missing: lines that hold for the method have mistakes, or a line that is attached
	// to nothing is near it. Those that are there hold.
	Unclear bool
}

// Limit is a directive that holds for a method.
type Limit struct {
	*annotations.Annotation
	Pos     token.Pos // of the directive's first slash
	Default bool      // it stands on an interface or an embedded one, and may hold for other methods as well

	obstacles []Obstacle
}

// MeansAll reports whether the limit is a default for all methods that can be limited, which those that are private to
// another package cannot.
func (l *Limit) MeansAll() bool { return l.Default && l.Methods == nil }

// Obstacle is why an expression or the fallback of a directive cannot be written in other packages.
type Obstacle struct {
	Offset int // where that starts, in bytes after the directive's first slash
	Reason string
}

// Obstacle returns why what stands at an offset of the directive cannot be written, as far as that is known of a
// directive whose source is not at hand.
func (l *Limit) Obstacle(offset int) (reason string, ok bool) {
	for _, o := range l.obstacles {
		if o.Offset == offset {
			return o.Reason, true
		}
	}
	return "", false
}
