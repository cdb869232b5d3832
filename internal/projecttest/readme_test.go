package projecttest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const command = module + "/cmd/ratelimitgen"

// block is a fenced block of the README.
type block struct{ language, text string }

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	for i, part := range strings.Split("\n"+string(readme), "\n```") {
		if i%2 == 1 {
			language, text, _ := strings.Cut(part, "\n")
			blocks = append(blocks, block{language, text + "\n"})
		}
	}
	return blocks
}

// The README's way from a directive to a refused request, in a module of a user, by the README's own words.
func TestREADME(t *testing.T) {
	blocks := readmeBlocks(t)
	var languages []string
	for i, b := range blocks {
		languages = append(languages, b.language)
		if n := strings.Count(b.text, "\n"); n > 10 && b.language != "" {
			t.Errorf("block %d of the README has %d lines, want at most 10", i+1, n)
		}
	}
	if got, want := fmt.Sprintf("%q", languages), `["sh" "go" "sh" "go" "go" "go" ""]`; got != want {
		t.Fatalf("the README has blocks of the languages %s, want %s", got, want)
	}
	write, generate, get, wire, serve, refused := blocks[1], blocks[2], blocks[3], blocks[4], blocks[5], blocks[6]

	user := newModule(t)
	user.write("greet/greet.go", write.text)
	if want := "go get -tool " + command + "\ngo generate ./...\n"; generate.text != want {
		t.Errorf("the README generates by\n%s\nwant\n%s", generate.text, want)
	}
	// What go get -tool does, but for asking where the module is published.
	user.run("go", "mod", "edit", "-tool", command, "-require", module+"@v0.0.0")
	user.run("go", "mod", "tidy")
	user.run("go", "generate", "./...")
	if generated := user.read("greet/greet_ratelimit.go"); !strings.Contains(generated, get.text) {
		t.Errorf("the generated file is\n%s\nwant it to contain, as the README says,\n%s", generated, get.text)
	}
	user.run("go", "tool", "ratelimitgen", "check", "./...")

	user.write("main.go", fmt.Sprintf(user.testdata("main.go.txt"), indent(wire.text), indent(serve.text)))
	user.write("main_test.go", user.testdata("main_test.go.txt"))
	user.write("refused.txt", refused.text)
	user.run("gofmt", "-l", ".")
	user.run("go", "vet", "./...")
	user.run("go", "test", "./...")
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t") + "\n"
}

// userModule is a module outside of the repository that uses it by its public face.
type userModule struct {
	*testing.T
	dir string
}

func newModule(t *testing.T) userModule {
	t.Helper()
	m := userModule{t, t.TempDir()}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readSources(t, root)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	m.write("go.sum", string(sums)) // so that the test asks no checksum database
	m.run("go", "mod", "init", "example.com/user")
	m.run("go", "mod", "edit", "-replace", module+"="+root)
	return m
}

// readSources reads the sources that the commands of a user's module will depend on. By this go test knows that what it
// has cached is stale once one of them changes.
func readSources(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".go", ".lua", ".mod":
			_, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (m userModule) write(name, text string) {
	m.Helper()
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.Fatal(err)
	}
}

func (m userModule) read(name string) string {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(name)))
	if err != nil {
		m.Fatal(err)
	}
	return string(text)
}

func (m userModule) testdata(name string) string {
	m.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		m.Fatal(err)
	}
	return string(text)
}

// run runs a command, which must succeed. An output of gofmt -l is a failure, too.
func (m userModule) run(args ...string) {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), args[0], args[1:]...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || args[0] == "gofmt" && len(out) > 0 {
		m.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
