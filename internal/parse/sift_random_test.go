package parse

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// oddities are files of which some are in every module of the next test. NAME is the name of their package, and
// example.com/m/a, a/v2, b and c are others; example.com/m/sub may be one, and may be of another module.
var oddities = []string{
	"package NAME\n",
	"package NAME\n\ntype A interface {\n\t//ratelimit:count=1\n\tDo() error\n}\n",
	"package NAME\n\ntype A interface {\n\t//ratelimit:count=0\n\tDo() error\n}\n",
	"package NAME\n\nimport \"example.com/m/a\"\n\ntype B interface {\n\ta.A\n}\n",
	"package NAME\n\nimport \"example.com/m/b\"\n\ntype C interface{ b.B }\n",
	"package NAME\n\nimport x \"example.com/m/a\"\n\ntype B = x.A\n",
	"package NAME\n\nimport . \"example.com/m/c\"\n\ntype D interface { C }\n",
	"package NAME\n\nimport \"io\"\n\ntype E interface { io.Reader }\n\nvar _ interface {}\n",
	"package NAME\n\nimport \"example.com/m/a\"\n\ntype E interface { error }\n\nvar _ a.A\n",
	"package NAME\n\nimport \"example.com/m/a\"\n\ntype G interface { H }\n\ntype H a.A\n",
	"package NAME\n\nimport \"example.com/m/a\"\n\ntype G interface { H }\n\ntype H interface { Do(a.A) error }\n",
	"package NAME\n\nimport . \"example.com/m/a\"\n\ntype D interface { A }\n",
	"package NAME_test\n\ntype A interface{ Put() error }\n",
	"package NAME_test\n\nimport \"example.com/m/b\"\n\ntype C interface{ b.B }\n",
	"//go:build never\n\npackage NAME\n\ntype A interface{ Put() error }\n",
	"package NAME\n\nimport \"example.com/m/a\"\n\ntype A = a.A\n",
	"package NAME\n\nimport (\n\t\"math/rand/v2\"\n\n\t\"example.com/m/a/v2\"\n)\n\ntype V interface{ v2.A }\n\nvar _ = rand.Int()\n",
	"package NAME\n\nimport \"example.com/m/sub\"\n\ntype S interface{ sub.A }\n",
	"package NAME\n\ntype F interface {\n",
	"package NAME\n\nimport (\n",
	"package other\n",
	"//go:build linux ||\n\npackage NAME\n",
	"//go:build never\n\npackage NAME\n\ntype A interface {\n\t//ratelimit:count=1\n\tDo() error\n}\n",
	"//go:build never\n\npackage NAME\n",
	"package NAME\n\nimport \"C\"\n",
	"package NAME\n\nimport _ \"example.com/missing\"\n",
	"package NAME\n\nimport _ \"embed\"\n\n//go:embed none\nvar s string\n",
	"package NAME\n\n// Ratelimit here.\ntype A interface {\n\tDo() error\n}\n",
	Header + "\n\npackage NAME\n\ntype RateLimitedA struct{}\n",
	"",
	"no Go\n",
}

// A module of any layout gives the same result with and without the packages that cannot matter.
func TestFewerPackagesOfAnyModule(t *testing.T) {
	folders := []string{
		".", "a", "a/v2", "b", "c", "d", "sub", "d/e", "d/e/f", "internal/g", "testdata", "testdata/h", "_i", ".j", "vendor", "vendor/k", "d/vendor/l",
		"nested", "nested/m", "n o", "p@1", "q.", "cmd",
	}
	files := []string{"a.go", "b.go", "a_test.go", "b_windows.go", "_c.go", "a_ratelimit.go", "a_ratelimit_test.go", "text.txt"}
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("30"); err != nil { // each asks the go command several times
			t.Fatal(err)
		}
		defer func() { _ = checks.Value.Set(checks.DefValue) }()
	}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "sift")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		const goMod = "module example.com/m\n\ngo 1.26\n"
		writeFile(t, filepath.Join(dir, "go.mod"), goMod)
		if rapid.IntRange(0, 2).Draw(t, "required module") == 0 {
			writeFile(t, filepath.Join(dir, "go.mod"), goMod+"\nrequire example.com/m/sub v0.0.0\n\nreplace example.com/m/sub => ./elsewhere\n")
			writeFile(t, filepath.Join(dir, "elsewhere/go.mod"), "module example.com/m/sub\n\ngo 1.26\n\nrequire example.com/m v0.0.0\n")
			writeFile(t, filepath.Join(dir, "elsewhere/sub.go"), "package sub\n\nimport \"example.com/m/a\"\n\ntype A = a.A\n")
		}
		for range rapid.IntRange(1, 8).Draw(t, "files") {
			folder := rapid.SampledFrom(folders).Draw(t, "folder")
			if rapid.Bool().Draw(t, "likely") {
				folder = rapid.SampledFrom(folders[:8]).Draw(t, "likely folder")
			}
			name := rapid.SampledFrom(files).Draw(t, "file")
			text := rapid.SampledFrom(oddities).Draw(t, "text")
			writeFile(t, filepath.Join(dir, folder, name), strings.ReplaceAll(text, "NAME", packageName(folder)))
		}
		if rapid.Bool().Draw(t, "nested module") {
			writeFile(t, filepath.Join(dir, "nested", "go.mod"), "module example.com/m/nested\n\ngo 1.26\n")
		}
		for i := range rapid.SampledFrom([]int{0, 20, 20}).Draw(t, "others") {
			writeFile(t, filepath.Join(dir, fmt.Sprintf("z%02d/z.go", i)), "package z\n")
		}
		patterns := []string{"./..."}
		if rapid.IntRange(0, 2).Draw(t, "other patterns") == 0 {
			patterns = rapid.SliceOfN(rapid.SampledFrom([]string{
				"./...", "./d/...", "./d/e/...", ".", "./a", "./nested/...", "./testdata/...", "./vendor/...", "./none/...", "./d...", "all",
			}), 1, 2).Draw(t, "patterns")
		}
		flags := rapid.SampledFrom([]string{"", "-mod=mod"}).Draw(t, "flags")
		cfg := Config{Dir: dir, Env: append(os.Environ(), "GOFLAGS="+flags, "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=1")}
		if rapid.IntRange(0, 3).Draw(t, "into") == 0 {
			cfg.Into = rapid.SampledFrom([]string{"d/e", "limited"}).Draw(t, "into where")
		}
		pkgs, err := Load(cfg, patterns...)
		got := visible(dir, pkgs, err)
		pkgs, err = loadAll(cfg, patterns...)
		if want := visible(dir, pkgs, err); got != want {
			t.Fatalf("%v: got\n%s\nwant\n%s", patterns, got, want)
		}
	})
}

func packageName(folder string) string {
	name := filepath.Base(folder)
	if slices.Contains([]string{".", "n o", "p@1", "q.", "_i", ".j"}, name) {
		return "m"
	}
	return name
}
