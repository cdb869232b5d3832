package vet

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// reporter collects the mistakes of one package.
type reporter struct {
	pass     *analysis.Pass
	parsed   parse.Parsed
	known    []parse.Diagnostic // mistakes of other packages
	lines    []parse.MethodLines
	mistakes parse.Diagnostics
}

func newReporter(pass *analysis.Pass, known *directives) *reporter {
	r := &reporter{pass: pass, known: known.Mistakes}
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
	return r
}

// add collects the mistakes that an error is made of.
func (r *reporter) add(err error) {
	var mistakes parse.Diagnostics
	if errors.As(err, &mistakes) {
		r.mistakes = append(r.mistakes, mistakes...)
	}
}

// report passes the mistakes on to the driver, but for those that are said already.
func (r *reporter) report(pkg *parse.Package) {
	r.mistakes.Sort()
	files, said := r.files(), r.said()
	for _, mistake := range r.mistakes {
		if said[mistake.String()] {
			continue
		}
		d := analysis.Diagnostic{Message: mistake.Message}
		if file := files[mistake.Pos.Filename]; file != nil {
			d.Pos = file.Pos(min(mistake.Pos.Offset, file.Size()))
			r.suggest(&d)
		} else {
			// In another package, or in a file of another build: drivers want a place in this one.
			d.Pos = r.nearestTo(mistake.Pos, pkg)
			d.Message += fmt.Sprintf(" (%s)", relative(r.pass.Fset.PositionFor(d.Pos, false), mistake.Pos))
		}
		r.pass.Report(d)
	}
}

// files returns the files of the package as the file set has them, by path.
func (r *reporter) files() map[string]*token.File {
	files := make(map[string]*token.File)
	originals := make(map[string]bool)
	for _, file := range r.pass.Files {
		if path, same := r.parsed.Original(file); same {
			files[path] = r.pass.Fset.File(file.FileStart)
		} else {
			originals[path] = true
		}
	}
	if len(originals) > 0 {
		r.pass.Fset.Iterate(func(file *token.File) bool {
			if originals[file.Name()] {
				files[file.Name()] = file
			}
			return true
		})
	}
	return files
}

// said returns what the compiler says about the package, and what is reported where other packages are analyzed.
func (r *reporter) said() map[string]bool {
	said := make(map[string]bool)
	for _, mistake := range r.known {
		said[mistake.String()] = true
	}
	for _, err := range r.pass.TypeErrors {
		d := parse.Diagnostic{Pos: err.Fset.PositionFor(err.Pos, false), Message: strings.ReplaceAll(err.Msg, "\n\t", " ")}
		said[d.String()] = true
	}
	return said
}

// nearestTo returns a place in the package for a mistake that is elsewhere: the interface that the directive there holds
// for, or else the first one.
func (r *reporter) nearestTo(pos token.Position, pkg *parse.Package) token.Pos {
	nearest := r.pass.Files[0].Name.Pos()
	if len(pkg.Files) > 0 {
		nearest = pkg.Files[0].Interfaces[0].Object.Pos()
	}
	for _, file := range pkg.Files {
		for _, iface := range file.Interfaces {
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

// relative returns a position in words, its file as seen from the folder of another one's.
func relative(here, there token.Position) string {
	if name, err := filepath.Rel(filepath.Dir(here.Filename), there.Filename); err == nil {
		there.Filename = filepath.ToSlash(name)
	}
	return there.String()
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
