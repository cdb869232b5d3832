// Package vet is an analyzer that reports what keeps ratelimitgen from generating: the same mistakes in //ratelimit:
// directives, and in the interfaces that they stand on, at the same places and in the same words.
//
// It needs no generated files, and is usable wherever analyzers of [golang.org/x/tools/go/analysis] are: in a
// multichecker, in a plugin of golangci-lint (whose load mode must be that with types), in a build of gopls. The command is
// a vet tool itself:
//
//	go vet -vettool=$(go tool -n ratelimitgen) ./...
//
// Where it leaves no doubt what was meant, as in "// ratelimit:count=5" or ipLimit=true, a mistake comes with a suggested
// fix, which editors offer and which go vet -fix applies.
//
// An analyzer sees one package, and of those that it imports the lines on the methods of their interfaces. So it does not
// find keys that packages share without being equal, nor what keeps decorators from being in another package, where -into puts
// them: run ratelimitgen vet, check or generate for all packages at once. What is wrong with a line only where another package
// embeds its interface is told at the interface there. What the compiler says is left to the compiler.
package vet

import (
	"go/token"
	"os"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// Analyzer reports mistakes in //ratelimit: directives. It has no flags and no result.
var Analyzer = &analysis.Analyzer{
	Name: "ratelimit",
	Doc: `report mistakes in //ratelimit: directives

A directive with a mistake, or in a place where it has no effect, leaves a method without its limit. This analyzer reports
what ratelimitgen would report instead of generating: unknown attributes and wrong values, directives on what cannot be
limited, and comments that were meant as directives but that Go does not read as such.`,
	URL:              "https://pkg.go.dev/github.com/ratelimitgen/ratelimitgen/vet",
	Run:              run,
	RunDespiteErrors: true, // the very file that is to be generated may be missing
	FactTypes:        []analysis.Fact{new(directives)},
}

func run(pass *analysis.Pass) (any, error) {
	known := importDirectives(pass)
	if pass.Module == nil || pass.Module.Version == "" { // or else it is a dependency, whose directives are its own
		r := newReporter(pass, known)
		r.check()
		known.Methods = append(known.Methods, r.lines...)
		known.Mistakes = append(known.Mistakes, r.here...)
	}
	known.export(pass)
	return nil, nil
}

// check finds the mistakes of the package and reports them.
func (r *reporter) check() {
	pkg, lines, err := parse.LoadParsed(r.parsed)
	r.lines = lines
	r.add(err, pkg)
	r.add(generate.CheckKeys([]*parse.Package{pkg}), pkg)
	isElsewhere := sync.OnceValue(func() bool { return r.isElsewhere(pkg) })
	for _, f := range pkg.Files {
		if generate.Check(f) != nil && isElsewhere() { // a name that is taken here is not so there, as far as an analyzer sees
			clear(pkg.Names)
			clear(pkg.FileNames)
		}
		r.checkFile(f)
		r.note(generate.Abroad(f))
		if r.isInTheWay(parse.OutputPath(f.Path)) && !isElsewhere() {
			r.add(parse.Diagnostics{generate.InTheWay(parse.OutputPath(f.Path))}, pkg)
		}
	}
	r.report()
}

// isInTheWay reports whether there is a file of the name of one that is to be generated, and none that was.
func (r *reporter) isInTheWay(path string) bool {
	content, err := r.readFile(path)
	return err == nil && !parse.IsOutput(path, content)
}

// isElsewhere reports whether the decorators of the package go into another one: none is in the package itself, and there is
// one that has them, or a line for go generate that is to put them there.
func (r *reporter) isElsewhere(pkg *parse.Package) bool {
	return !pkg.HasOwnDecorators() && (r.generatesElsewhere() || pkg.HasDecoratorsElsewhere())
}

// generatesElsewhere reports whether go generate is to put decorators into another package.
func (r *reporter) generatesElsewhere() bool {
	for _, file := range r.pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if command, ok := strings.CutPrefix(comment.Text, "//go:generate "); ok && intoFlag.MatchString(command) {
					return true
				}
			}
		}
	}
	return false
}

// intoFlag finds a command that has the flag -into.
var intoFlag = regexp.MustCompile(`\bratelimitgen\b.*\s--?into\b`)

func (r *reporter) checkFile(f *parse.File) {
	here, elsewhere := r.split(generate.Check(f))
	r.here = append(r.here, here...)
	if len(elsewhere) == 0 {
		return
	}
	for _, iface := range f.Interfaces { // what is wrong with a line elsewhere is so for some
		alone := *f
		alone.Interfaces = []*parse.Interface{iface}
		_, elsewhere = r.split(generate.Check(&alone))
		r.addElsewhere(elsewhere, iface.Object.Pos())
	}
}

// note adds obstacles to the lines that they are about.
func (r *reporter) note(obstacles map[token.Position][]parse.Obstacle) {
	for i := range r.lines {
		for j := range r.lines[i].Lines {
			l := &r.lines[i].Lines[j]
			l.Obstacles = append(l.Obstacles, obstacles[l.Pos]...)
		}
	}
}

// readFile reads a file, one that the driver knows in the state in which the driver has it. Others are those that cgo has
// read, and those that were generated for them.
func (r *reporter) readFile(path string) ([]byte, error) {
	if r.pass.ReadFile != nil {
		if content, err := r.pass.ReadFile(path); err == nil {
			return content, nil
		}
	}
	return os.ReadFile(path)
}
