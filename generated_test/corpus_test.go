// Package generated_test holds the corpus of the generator: one folder a case, named for what is hard about it, with its
// input, its generated file, and a test that calls the decorator. The cases in fail are those that must not generate.
package generated_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

var update = flag.Bool("update", false, "write what is generated, and what is printed, instead of comparing it")

// intoDir has the cases whose decorators go into another package, limited, as well as into their own.
const intoDir = "into"

// TestGeneratedFiles compares each generated file of the corpus byte for byte with what is generated now.
func TestGeneratedFiles(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for _, pkg := range load(t, parse.Config{}, "./...") {
		compare(t, pkg, pkg.Files, wanted)
	}
	var elsewhere []*parse.File
	for _, pkg := range load(t, parse.Config{Into: filepath.Join(intoDir, "limited")}, "./"+intoDir+"/...") {
		elsewhere = append(elsewhere, pkg.Files...)
	}
	if len(wanted) == 0 || len(elsewhere) == 0 {
		t.Fatal("no cases")
	}
	compare(t, elsewhere[0].Target(), elsewhere, wanted)
	for path := range files(t, root) {
		if _, ok := parse.SourcePath(path); ok && !wanted[filepath.Join(root, path)] && !nested(path) {
			t.Errorf("%s belongs to no case", path)
		}
	}
}

func load(t *testing.T, cfg parse.Config, patterns ...string) []*parse.Package {
	t.Helper()
	pkgs, err := parse.Load(cfg, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// compare compares what is generated for files with what is there, and adds the paths to wanted.
func compare(t *testing.T, target *parse.Package, files []*parse.File, wanted map[string]bool) {
	t.Helper()
	sources := map[*parse.File][]byte{}
	for _, f := range files {
		path := generate.Path(f)
		wanted[path] = true
		source, err := generate.File(f)
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		sources[f] = source
		if *update {
			if err := os.WriteFile(path, source, 0o666); err != nil {
				t.Error(err)
			}
			continue
		}
		if old, err := os.ReadFile(path); err != nil {
			t.Error(err)
		} else if !bytes.Equal(old, source) {
			t.Errorf("%s is stale: run go test ./generated_test -update, and look at the difference", path)
		}
	}
	verify(t, target, sources)
}

// verify checks that the type checker finds no fault in generated files, and that it looks for them.
func verify(t *testing.T, pkg *parse.Package, sources map[*parse.File][]byte) {
	t.Helper()
	for _, fault := range generate.Verify(pkg, sources) {
		t.Error(fault)
	}
	for f, source := range sources {
		sources[f] = append(source, "\nvar _ = faulty\n"...)
	}
	faults := generate.Verify(pkg, sources)
	if len(faults) != len(sources) {
		t.Errorf("%s: got %d faults in %d faulty files", pkg.Dir, len(faults), len(sources))
	}
	for _, fault := range faults {
		if !strings.Contains(fault.Message, "undefined: faulty") {
			t.Error(fault)
		}
	}
}

// nested reports whether a path is of a module of its own.
func nested(path string) bool {
	_, err := os.Stat(filepath.Join(strings.Split(filepath.ToSlash(path), "/")[0], "go.mod"))
	return err == nil
}

// TestFailures runs the command in each archive of fail, and compares what it prints with the archive's stderr. The
// exit status must be 1, and no file may be written.
func TestFailures(t *testing.T) {
	command := filepath.Join(t.TempDir(), "ratelimitgen.exe")
	// Reading the sources tells go test that a result it has cached depends on them.
	for path := range files(t, "../cmd/ratelimitgen") {
		t.Log("built with", path)
	}
	if out, err := exec.Command("go", "build", "-o", command, "../cmd/ratelimitgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cases, err := filepath.Glob("fail/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			want, args := extract(t, archive, dir)
			before := files(t, dir)

			var stdout, stderr bytes.Buffer
			cmd := exec.Command(command, args...)
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
			cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=1")
			err = cmd.Run()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("got %v, want exit status 1", err)
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout has %q, want nothing", stdout.String())
			}
			if got := stderr.String(); *update {
				want.Data = stderr.Bytes()
				if err := os.WriteFile(path, txtar.Format(archive), 0o666); err != nil {
					t.Error(err)
				}
			} else if got != string(want.Data) {
				t.Errorf("got\n%swant\n%s", got, want.Data)
			}
			after := files(t, dir)
			for path, content := range after {
				if before[path] != content {
					t.Errorf("%s was written", path)
				}
			}
			if len(after) < len(before) {
				t.Error("a file was removed")
			}
		})
	}
}

// extract writes the archive's files to dir, under a go.mod unless they have one, and returns its stderr, and the arguments
// of the command if it does not only say which packages.
func extract(t *testing.T, archive *txtar.Archive, dir string) (stderr *txtar.File, args []string) {
	t.Helper()
	write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/app\n\ngo 1.26\n"))
	args = []string{"./..."}
	for i, f := range archive.Files {
		switch f.Name {
		case "stderr":
			stderr = &archive.Files[i]
		case "args":
			args = strings.Fields(string(f.Data))
		default:
			write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
		}
	}
	if stderr == nil {
		t.Fatal("the archive has no stderr")
	}
	return stderr, args
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// files returns the content of all files below dir, by relative path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	content := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		content[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}
