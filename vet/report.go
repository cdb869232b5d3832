package vet

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// reporter collects the mistakes of one package.
type reporter struct {
	pass      *analysis.Pass
	parsed    parse.Parsed
	files     map[string]*token.File // of the package, by path
	said      map[string]bool        // by others: the compiler, and this analyzer in other packages
	lines     []parse.MethodLines
	here      parse.Diagnostics
	elsewhere []analysis.Diagnostic // mistakes in other packages and in files of other builds, at a place in this package
}

func newReporter(pass *analysis.Pass, known *directives) *reporter {
	r := &reporter{pass: pass}
	r.parsed = parse.Parsed{
		Fset:      pass.Fset,
		Files:     pass.Files,
		Types:     pass.Pkg,
		Info:      pass.TypesInfo,
		Sizes:     pass.TypesSizes,
		Ignored:   pass.IgnoredFiles,
		ReadFile:  r.readFile,
		Inherited: known.Methods,
	}
	if pass.Module != nil {
		r.parsed.Module = pass.Module.Path
	}
	r.said = saidByCompiler(pass)
	for _, mistake := range known.Mistakes {
		r.said[mistake.String()] = true
	}
	return r
}

// saidByCompiler returns what the type checker says about the package, as mistakes are written.
func saidByCompiler(pass *analysis.Pass) map[string]bool {
	said := make(map[string]bool)
	for _, err := range pass.TypeErrors {
		d := parse.Diagnostic{Pos: err.Fset.PositionFor(err.Pos, false), Message: strings.ReplaceAll(err.Msg, "\n\t", " ")}
		said[d.String()] = true
	}
	return said
}

// split divides the mistakes that an error is made of into those in the package and those elsewhere, without those that
// are said already.
func (r *reporter) split(err error) (here, elsewhere parse.Diagnostics) {
	var mistakes parse.Diagnostics
	errors.As(err, &mistakes)
	for _, mistake := range mistakes {
		switch {
		case r.said[mistake.String()]:
		case r.file(mistake.Pos.Filename) != nil:
			here = append(here, mistake)
		default:
			elsewhere = append(elsewhere, mistake)
		}
	}
	return here, elsewhere
}

// add collects the mistakes that an error is made of. Those elsewhere are told where the package has to do with them.
func (r *reporter) add(err error, pkg *parse.Package) {
	here, elsewhere := r.split(err)
	r.here = append(r.here, here...)
	for _, mistake := range elsewhere {
		r.addElsewhere(parse.Diagnostics{mistake}, r.nearestTo(mistake.Pos, pkg))
	}
}

// addElsewhere collects mistakes that are elsewhere at a place in the package, since drivers know no other.
func (r *reporter) addElsewhere(mistakes parse.Diagnostics, at token.Pos) {
	for _, mistake := range mistakes {
		r.elsewhere = append(r.elsewhere, analysis.Diagnostic{Pos: at, Message: fmt.Sprintf("%s (at %v)", mistake.Message, mistake.Pos)})
	}
}

// nearestTo returns a place in the package for what is elsewhere: the first interface that has a limit from there, or else
// the first one, or the package's name.
func (r *reporter) nearestTo(pos token.Position, pkg *parse.Package) token.Pos {
	nearest := r.pass.Files[0].Name.Pos()
	if len(pkg.Files) > 0 {
		nearest = pkg.Files[0].Interfaces[0].Object.Pos()
	}
	for _, f := range pkg.Files {
		for _, iface := range f.Interfaces {
			for _, m := range iface.Methods {
				for _, l := range m.Limits {
					if at := pkg.Fset.PositionFor(l.Pos, false); at.Filename == pos.Filename && at.Line == pos.Line {
						return iface.Object.Pos()
					}
				}
			}
		}
	}
	return nearest
}

// report passes what was collected on to the driver, in the order of the source.
func (r *reporter) report() {
	r.here.Sort()
	all := r.elsewhere
	for _, mistake := range r.here {
		file := r.file(mistake.Pos.Filename)
		d := analysis.Diagnostic{Pos: file.Pos(min(mistake.Pos.Offset, file.Size())), Message: mistake.Message}
		r.suggest(&d)
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b analysis.Diagnostic) int { return cmp.Compare(a.Pos, b.Pos) })
	for _, d := range all {
		r.pass.Report(d)
	}
}

// file returns a file of the package as the file set has it, or nil.
func (r *reporter) file(path string) *token.File {
	if r.files != nil {
		return r.files[path]
	}
	r.files = make(map[string]*token.File)
	originals := make(map[string]bool)
	for _, file := range r.pass.Files {
		if path, same := r.parsed.Original(file); same {
			r.files[path] = r.pass.Fset.File(file.FileStart)
		} else {
			originals[path] = true
		}
	}
	if len(originals) > 0 {
		r.pass.Fset.Iterate(func(file *token.File) bool {
			if originals[file.Name()] {
				r.files[file.Name()] = file
			}
			return true
		})
	}
	return r.files[path]
}

// commentAt returns the comment that holds pos, or nil.
func (r *reporter) commentAt(pos token.Pos) *ast.Comment {
	for _, file := range r.pass.Files {
		if pos < file.FileStart || file.FileEnd < pos {
			continue
		}
		for _, group := range file.Comments {
			if pos < group.Pos() || group.End() < pos {
				continue
			}
			for _, comment := range group.List {
				if comment.Pos() <= pos && pos <= comment.End() {
					return comment
				}
			}
		}
	}
	return nil
}
