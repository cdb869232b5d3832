package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// A package whose code would not compile is not written, and others are.
func TestFaultyCodeIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, dir, map[string]string{
		"bad/bad.go":   "package bad\n\ntype Bad interface {\n\t//ratelimit:count=5\n\tGet() error\n}\n",
		"bad/more.go":  "package bad\n\ntype More interface {\n\t//ratelimit:count=5\n\tGet() error\n}\n",
		"good/good.go": "package good\n\ntype Good interface {\n\t//ratelimit:count=5\n\tGet() error\n}\n",
	})
	p, err := load(parse.Config{Dir: dir}, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	for f, source := range p.sources {
		if filepath.Base(f.Path) == "bad.go" {
			p.sources[f] = bytes.ReplaceAll(source, []byte("return err"), []byte("return false"))
		}
	}
	changes, err := p.complete()
	if len(changes) != 1 || changes[0].path != filepath.Join(dir, "good", "good_ratelimit.go") {
		t.Errorf("got the changes %v, want that of good only", changes)
	}
	var stderr bytes.Buffer
	status := (&output{dir: dir, stdout: io.Discard, stderr: &stderr}).report(err)
	const want = "bad/bad.go:3:6: Bad: fault of ratelimitgen: the code for this interface would not compile: " +
		"cannot use false (constant of type bool) as error value in return statement: bool does not implement error (missing method Error), " +
		"in \"return false\": please report it at https://github.com/ratelimitgen/ratelimitgen/issues\n"
	if got := stderr.String(); status != exitFindings || got != want {
		t.Errorf("got status %d and\n%s\nwant status %d and\n%s", status, got, exitFindings, want)
	}
}

// Most runs have mistakes in a package or two. The others stay as they are, which is faster by far.
func TestPackageWithMistakesIsNoReasonToLoadAllAgain(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, dir, map[string]string{
		"bad/bad.go":     "package bad\n\ntype Bad interface {\n\t//ratelimit:count=5 key={none}\n\tGet() error\n}\n",
		"good/good.go":   "package good\n\ntype Good interface {\n\t//ratelimit:count=5\n\tGet() error\n}\n",
		"worse/worse.go": "package worse\n\ntype Worse interface {\n\t//ratelimit:count=5\n\tGet()\n}\n",
	})
	for _, tt := range []struct {
		into string
		want []string // packages that are loaded as a whole
	}{
		{"", []string{"bad", "worse"}},
		{"limited", []string{"bad", "good", "worse"}}, // all go into one
	} {
		p, err := load(parse.Config{Dir: dir, Into: tt.into}, []string{"./..."})
		if err != nil {
			t.Fatal(err)
		}
		var whole []string
		for _, pkg := range p.pkgs {
			if !pkg.Sparse {
				whole = append(whole, pkg.Types.Name())
			}
		}
		if !slices.Equal(whole, tt.want) || len(p.mistakes) != 2 {
			t.Errorf("-into %q: loaded as a whole are %v, want %v; mistakes: %v", tt.into, whole, tt.want, p.mistakes)
		}
	}
}

// writeModule writes the files of a module.
func writeModule(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	files["go.mod"] = "module example.com/app\n\ngo 1.26\n"
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
