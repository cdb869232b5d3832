package blocks

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	// What the pages are compiled with: by this go test knows that what it has cached is stale once it changes.
	_ "github.com/ratelimitgen/ratelimitgen/internal/generate"
	_ "github.com/ratelimitgen/ratelimitgen/internal/parse"
	_ "github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	_ "github.com/ratelimitgen/ratelimitgen/runtime/overrides"
	_ "github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
	_ "github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

const (
	module = "github.com/ratelimitgen/ratelimitgen"
	root   = "../.."
	// user is the module of the reader.
	user = "example.com/app"
	// placeholder is where a block goes in what is around it.
	placeholder = "BLOCK"
)

// fence is a block of Go code. Before one that is no file by itself a comment of the page, which readers do not see, has
// what is around it.
var fence = regexp.MustCompile("(?ms)(?:^<!--go\n(.*?)^-->\n+)?^```go\n(.*?)^```$")

// TestPages compiles the Go code of each page in a module of a reader, with what is generated for its directives, and runs
// its tests. Blocks of one package are one package.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles some ten modules")
	}
	pages, err := filepath.Glob("../*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages, error %v", err)
	}
	generator := filepath.Join(t.TempDir(), "ratelimitgen")
	run(t, root, "go", "build", "-o", generator, "./cmd/ratelimitgen")
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks := fence.FindAllSubmatch(text, -1)
			if n := bytes.Count(text, []byte("\n```go\n")); n != len(blocks) {
				t.Fatalf("%d blocks of Go begin, and %d end", n, len(blocks))
			}
			if len(blocks) == 0 {
				return
			}
			dir := newModule(t)
			for i, block := range blocks {
				source := string(block[2])
				if around := string(block[1]); around != "" {
					if strings.Count(around, placeholder) != 1 {
						t.Fatalf("around block %d, %s is not there once", i+1, placeholder)
					}
					source = strings.Replace(around, placeholder, source, 1)
				}
				add(t, dir, i+1, source)
			}
			run(t, dir, generator, "./...")
			if bytes.Contains(text, []byte("\n//go:build wireinject\n")) {
				run(t, dir, "go", "run", "github.com/google/wire/cmd/wire", "./...")
			}
			run(t, dir, "go", "vet", "./...")
			run(t, dir, "go", "test", "./...")
		})
	}
}

// newModule returns the folder of a module that has the dependencies of this one.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "go", "mod", "edit", "-module", user, "-replace", module+"="+absolute)
	return dir
}

// add writes a block as a file of its package.
func add(t *testing.T, dir string, n int, source string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly)
	if err != nil {
		t.Fatalf("block %d is no file of Go, and nothing around it makes it one: %v\n%s", n, err, source)
	}
	name := "block" + string(rune('a'+n-1))
	if strings.Contains(source, `"testing"`) {
		name += "_test"
	}
	path := filepath.Join(dir, strings.TrimSuffix(file.Name.Name, "_test"), name+".go")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
