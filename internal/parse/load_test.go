package parse

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the wanted results in testdata")

// TestLoad loads the module in each archive of testdata and compares what it gets with the archive's last file, want.
// A file called args holds the directory, tags and patterns to load, by default ./... in the module's root; a file whose
// name ends in .crlf is written without that ending, as an editor on Windows would save it.
func TestLoad(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			last := &archive.Files[len(archive.Files)-1]
			if last.Name != "want" {
				t.Fatalf("last file is %s: want a file called want", last.Name)
			}
			dir := t.TempDir()
			cfg, patterns := extract(t, archive, dir)
			pkgs, err := Load(cfg, patterns...)
			got := dump(dir, pkgs, err)
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(last.Data) {
				t.Errorf("got:\n%s\nwant:\n%s", got, last.Data)
			}
		})
	}
}

// extract writes the archive's module to dir, and returns how to load it.
func extract(t *testing.T, archive *txtar.Archive, dir string) (Config, []string) {
	t.Helper()
	cfg, patterns := Config{Dir: dir}, []string{"./..."}
	cfg.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=") // the same everywhere
	for _, file := range archive.Files[:len(archive.Files)-1] {
		if file.Name == "args" {
			patterns = nil
			for _, arg := range strings.Fields(string(file.Data)) {
				if sub, ok := strings.CutPrefix(arg, "-dir="); ok {
					cfg.Dir = filepath.Join(dir, sub)
				} else if tags, ok := strings.CutPrefix(arg, "-tags="); ok {
					cfg.Tags = tags
				} else {
					patterns = append(patterns, arg)
				}
			}
			continue
		}
		name, text := file.Name, string(file.Data)
		if plain, ok := strings.CutSuffix(name, ".crlf"); ok {
			name, text = plain, "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n")
		}
		writeFile(t, filepath.Join(dir, name), text)
	}
	return cfg, patterns
}

func writeFile(t interface{ Fatal(args ...any) }, path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// dump writes what was loaded and what was wrong, with the paths of files relative to dir.
func dump(dir string, pkgs []*Package, err error) string {
	var b strings.Builder
	for _, pkg := range pkgs {
		if pkg.Mistaken || len(pkg.Files) == 0 {
			continue // the diagnostics tell, or there is nothing to
		}
		fmt.Fprintf(&b, "package %s\n", pkg.Types.Path())
		for _, file := range pkg.Files {
			dumpFile(&b, dir, file)
		}
	}
	var diags Diagnostics
	switch {
	case errors.As(err, &diags):
		for _, d := range diags {
			fmt.Fprintf(&b, "%s\n", strings.ReplaceAll(d.String(), dir+string(filepath.Separator), ""))
		}
	case err != nil:
		fmt.Fprintf(&b, "error: %s\n", strings.ReplaceAll(err.Error(), dir, "$DIR"))
	}
	return b.String()
}

func dumpFile(b *strings.Builder, dir string, file *File) {
	qualifier := types.RelativeTo(file.Package.Types)
	fmt.Fprintf(b, "\tfile %s", relative(dir, file.Path))
	if file.Constraint != "" {
		fmt.Fprintf(b, " (%s)", file.Constraint)
	}
	b.WriteString("\n")
	for _, iface := range file.Interfaces {
		var params []string
		for p := range iface.TypeParams.TypeParams() {
			params = append(params, p.String()+" "+types.TypeString(p.Constraint(), qualifier))
		}
		fmt.Fprintf(b, "\t\tinterface %s", iface.Name)
		if params != nil {
			fmt.Fprintf(b, "[%s]", strings.Join(params, ", "))
		}
		b.WriteString("\n")
		for _, m := range iface.Methods {
			signature := types.TypeString(m.Func.Signature(), qualifier)
			fmt.Fprintf(b, "\t\t\t%s%s\n", m.Func.Name(), strings.TrimPrefix(signature, "func"))
			if m.Exempt {
				b.WriteString("\t\t\t\tskip\n")
			}
			for _, l := range m.Limits {
				p := file.Package.Fset.Position(l.Pos)
				fmt.Fprintf(b, "\t\t\t\t%s:%d: %s\n", relative(dir, p.Filename), p.Line, strings.TrimPrefix(l.String(), "//ratelimit:"))
			}
		}
	}
}

// A directive may be longer than the buffer of a line scanner.
func TestLongLine(t *testing.T) {
	message := strings.Repeat("x", 200_000)
	archive := txtar.Parse([]byte("-- go.mod --\nmodule example.com/m\n\ngo 1.26\n-- a.go --\npackage m\n\ntype A interface {\n" +
		"\t//ratelimit:count=1 message=" + message + " brst=2\n\tDo() error\n}\n-- want --\n"))
	cfg, patterns := extract(t, archive, t.TempDir())
	_, err := Load(cfg, patterns...)
	var diags Diagnostics
	if !errors.As(err, &diags) || len(diags) != 1 {
		t.Fatalf("error is %.200v: want one diagnostic", err)
	}
	if want := len("\t//ratelimit:count=1 message=" + message + " b"); diags[0].Pos.Column != want {
		t.Errorf("column is %d: want %d", diags[0].Pos.Column, want)
	}
}

func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}
