package parse

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestWithoutBodies(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"body", "func f() {\n\tg()\n}\n", "func f() {\n    \n}\n"},
		{"body on one line", "func f() int { return 1 }\nvar a = 1", "func f() int {          }\nvar a = 1"},
		{"method with types that have braces", "func (t *T[K]) f(a struct{ b int }, c interface{}) (d struct {\n}) { e }", "func (t *T[K]) f(a struct{ b int }, c interface{}) (d struct {\n}) {   }"},
		{"parameters on lines of their own", "func f(\n\ta int,\n) {\n\tb\n}", "func f(\n\ta int,\n) {\n  \n}"},
		{"braces in strings, runes and comments", "func f() { \"}\\\"}\"; '}'; '\\''; `}\n}`; /* } */ // }\n}\nfunc g() {}", "func f() {                      \n                \n}\nfunc g() {}"},
		{"no body", "func f() int\nfunc g() { a }", "func f() int\nfunc g() {   }"},
		{"function in a string", "var a = `\nfunc f() { b }\n`", "var a = `\nfunc f() { b }\n`"},
		{"function in a comment", "/*\nfunc f() { b }\n*/", "/*\nfunc f() { b }\n*/"},
		{"body that does not end", "func f() { a; b", "func f() {    b"},
		{"function that does not start a line", "var a int; func f() { b }", "var a int; func f() { b }"},
		{"string that does not end", "var a = \"b\nfunc f() { c }", "var a = \"b\nfunc f() {   }"},
		{"comment in a signature", "func f( /* ) { */ ) { a }", "func f( /* ) { */ ) {   }"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(withoutBodies([]byte(tt.source))); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestFilesWithoutBodiesDeclareTheSame compares what is left of the files of the standard library.
func TestFilesWithoutBodiesDeclareTheSame(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{"net/http", "go/types", "strconv", "text/template", "internal/abi", "runtime"}
	if testing.Short() {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal("no files", err)
		}
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkWithoutBodies(t, src)
		}
	}
}

func FuzzWithoutBodies(f *testing.F) {
	for _, src := range []string{
		"package p\nfunc f(a struct{ b func() }) interface{} { return `}\n` }\nvar a = '}'",
		"package p\nfunc f[T interface{ ~[]E }, E any](T /* { */) (a int) {\n\tvar _ = \"}\\\"\" // }\n}\n",
		"package p\nfunc /* f */ (T) f() int\nfunc g() {}",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(checkWithoutBodies)
}

// checkWithoutBodies checks that of a source that parses the same is left without bodies.
func checkWithoutBodies(t *testing.T, src []byte) {
	t.Helper()
	got := withoutBodies(src)
	if want, ok := pruned(src); ok {
		if got, _ := pruned(got); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// pruned returns what is left of a file when it is parsed and pruned, with the position of every node.
func pruned(src []byte) (text string, ok bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return "", false
	}
	file = prune(file)
	var buf bytes.Buffer
	if err := format.Node(&buf, fset, file); err != nil {
		return err.Error(), true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n != nil {
			buf.WriteString(fset.PositionFor(n.Pos(), false).String() + " ")
		}
		return true
	})
	return buf.String(), true
}
