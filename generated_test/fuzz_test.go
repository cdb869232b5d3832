package generated_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// FuzzInterfaces writes random directives on random interfaces. Either mistakes are reported, each at a place in the
// source, or the decorators compile, as they must without the lines that have the mistakes. It goes on for as long as
// it is told to by
//
//	make fuzz FUZZ=10m
func FuzzInterfaces(f *testing.F) {
	r := rand.New(rand.NewPCG(*seed, 1))
	for range 500 {
		f.Add(randomBytes(r))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		generateRepaired(t, randomPackage(data[:min(len(data), 1000)])) // there are no more choices
	})
}

func randomBytes(r *rand.Rand) []byte {
	data := make([]byte, 100+r.IntN(500))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// TestRandomPackages builds a module of random packages with their decorators, in which the generator's own type check
// finds no fault either. Unlike in memory, lengths of arrays are spelled as they are in the source. Interfaces are
// embedded in another package, and some have decorators elsewhere, too.
func TestRandomPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module")
	}
	r := rand.New(rand.NewPCG(*seed, 2))
	dir := randomModule(t)
	for i := range 100 {
		files := randomPackage(randomBytes(r))
		v := generateRepaired(t, files)
		if v.broken || len(v.mistakes) > 0 {
			continue
		}
		for name, source := range files {
			write(t, filepath.Join(dir, fmt.Sprint("p", i), name), []byte(source))
			for j, match := range exportedType.FindAllStringSubmatch(source, -1) {
				write(t, filepath.Join(dir, fmt.Sprint("p", i), "embedding", fmt.Sprint(j)+name), fmt.Appendf(nil,
					"package embedding\n\nimport err \"example.com/random/p%d\"\n\ntype %s interface{ err.%[2]s }\n", i, match[1]))
			}
		}
	}
	env := append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	pkgs := load(t, parse.Config{Dir: dir, Env: env}, "./...")
	for _, pkg := range pkgs {
		sources := map[*parse.File][]byte{}
		for _, f := range pkg.Files {
			source, err := generate.File(f)
			if err != nil && !(filepath.Base(pkg.Dir) == "embedding" && isOutOfReach(err)) {
				t.Error(err)
			}
			if err != nil {
				continue
			}
			sources[f] = source
			write(t, generate.Path(f), source)
		}
		for _, fault := range generate.Verify(pkg, sources) {
			t.Error(fault)
		}
	}
	for _, pkg := range pkgs[:min(30, len(pkgs))] { // the go command is asked for each
		if filepath.Base(pkg.Dir) == "embedding" {
			continue
		}
		sources := generateElsewhere(t, parse.Config{Dir: dir, Env: env, Into: filepath.Join(pkg.Dir, "elsewhere")}, pkg.Dir)
		for f, source := range sources {
			write(t, generate.Path(f), source)
		}
		for f := range sources {
			for _, fault := range generate.Verify(f.Target(), sources) {
				t.Error(fault)
			}
			break
		}
	}
	cmd := exec.Command("go", "build", "./...")
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with -seed=%d: %v\n%s", *seed, err, out)
	}
}

// exportedType is the declaration of a type that may be an interface that other packages can embed.
var exportedType = regexp.MustCompile(`(?m)^type ([A-Z]\w*) (?:interface|[^(]*$)`)

// isOutOfReach reports whether mistakes are only about what the decorators of another package cannot name.
func isOutOfReach(err error) bool {
	var mistakes parse.Diagnostics
	return errors.As(err, &mistakes) && !slices.ContainsFunc(mistakes, func(m parse.Diagnostic) bool {
		return !strings.Contains(m.Message, "but the decorator of") && !strings.Contains(m.Message, "no decorator can name") &&
			!strings.Contains(m.Message, "private to")
	})
}

// generateRepaired checks what is generated for the files of a package, and again without the lines that have mistakes,
// until there are none.
func generateRepaired(t *testing.T, files map[string]string) verdict {
	t.Helper()
	for {
		v := generateInMemory(t, files)
		repaired := false
		for _, m := range v.mistakes {
			lines := strings.SplitAfter(files[m.Pos.Filename], "\n")
			if i := m.Pos.Line - 1; strings.HasPrefix(strings.TrimSpace(lines[i]), "//ratelimit:") {
				lines[i], repaired = "//\n", true
				files[m.Pos.Filename] = strings.Join(lines, "")
			}
		}
		if !repaired || t.Failed() {
			return v
		}
	}
}

// verdict is what became of a package.
type verdict struct {
	broken    bool // the source has errors of its own
	mistakes  parse.Diagnostics
	generated map[string]string
}

// generateInMemory checks what is generated for the files of a package.
func generateInMemory(t *testing.T, files map[string]string) verdict {
	t.Helper()
	defer func() {
		if t.Failed() {
			for _, name := range sortedKeys(files) {
				t.Logf("%s:\n%s", name, files[name])
			}
		}
	}()
	p := parse.Parsed{
		Fset:     token.NewFileSet(),
		Info:     &types.Info{Defs: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}},
		Sizes:    types.SizesFor("gc", "amd64"),
		Module:   "example.com/random",
		ReadFile: func(name string) ([]byte, error) { return []byte(files[name]), nil },
	}
	for _, name := range sortedKeys(files) {
		file, err := parser.ParseFile(p.Fset, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, file)
	}
	var v verdict
	p.Types, v.broken = typeCheck(p.Fset, p.Sizes, p.Files, p.Info)
	pkg, _, err := parse.LoadParsed(p)
	v.add(t, err)
	v.mistakes = append(v.mistakes, generate.CheckKeys([]*parse.Package{pkg})...)
	sources := map[*parse.File][]byte{}
	for _, f := range pkg.Files {
		source, err := generate.File(f)
		if v.add(t, err); err != nil {
			continue
		}
		sources[f] = source
		if again, err := generate.File(f); err != nil || !bytes.Equal(source, again) {
			t.Errorf("not the same again: %v\n%s", err, again)
		}
	}
	checkMistakes(t, v.mistakes, files)
	if v.broken || pkg.Mistaken || len(v.mistakes) > 0 {
		return v
	}
	v.generated = map[string]string{}
	all := p.Files
	for f, source := range sources {
		v.generated[parse.OutputPath(f.Path)] = string(source)
		if formatted, err := format.Source(source); err != nil || !bytes.Equal(formatted, source) {
			t.Errorf("not as gofmt has it: %v", err)
		}
		file, err := parser.ParseFile(p.Fset, parse.OutputPath(f.Path), source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		all = append(all, file)
	}
	if _, broken := typeCheck(p.Fset, p.Sizes, all, nil, t); broken {
		for name, source := range v.generated {
			t.Logf("%s:\n%s", name, source)
		}
	}
	return v
}

// add keeps the mistakes of an error.
func (v *verdict) add(t *testing.T, err error) {
	t.Helper()
	var mistakes parse.Diagnostics
	if err != nil && !errors.As(err, &mistakes) {
		t.Error(err)
	}
	v.mistakes = append(v.mistakes, mistakes...)
}

// checkMistakes checks that mistakes are about the source, and readable.
func checkMistakes(t *testing.T, mistakes parse.Diagnostics, files map[string]string) {
	t.Helper()
	for _, m := range mistakes {
		lines := strings.Split(files[m.Pos.Filename], "\n")
		switch {
		case m.Pos.Line < 1 || m.Pos.Line > len(lines) || m.Pos.Column < 1 || m.Pos.Column > len(lines[m.Pos.Line-1])+1:
			t.Errorf("%v: not a place in the source", m)
		case strings.Contains(m.Message, "%!") || strings.Contains(m.Message, "fault of ratelimitgen") || !utf8.ValidString(m.Message):
			t.Errorf("%v: not a mistake of the source", m)
		}
	}
}

// typeCheck checks files as the compiler does. Errors are told if there is somebody to tell them.
func typeCheck(fset *token.FileSet, sizes types.Sizes, files []*ast.File, info *types.Info, tell ...*testing.T) (pkg *types.Package, broken bool) {
	conf := types.Config{Sizes: sizes, Importer: imports{}, Error: func(err error) {
		broken = true
		for _, t := range tell {
			t.Error(err)
		}
	}}
	pkg, _ = conf.Check("example.com/random", fset, files, info) // each error is told above
	return pkg, broken
}

// imports imports what random packages and their decorators do.
type imports struct{}

func (imports) Import(path string) (*types.Package, error) {
	known, err := importable()
	if err != nil {
		return nil, err
	}
	if pkg := known[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

var importable = sync.OnceValues(func() (map[string]*types.Package, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes}, "context", "crypto/sha256", "errors", "fmt",
		"html/template", "io", "math/bits", "math/rand", "math/rand/v2", "net/http", "net/netip", "sync", "text/template", "time",
		"github.com/ratelimitgen/ratelimitgen/runtime", "github.com/ratelimitgen/ratelimitgen/runtime/httplimit")
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, pkg := range pkgs {
		known[pkg.PkgPath] = pkg.Types
	}
	return known, err
})
