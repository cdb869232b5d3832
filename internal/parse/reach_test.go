package parse

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestReachable(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"nothing", "func f() {}\nfunc init() {}\nvar _ = f\nvar v = 1\nconst c = 1\ntype t int\nfunc (t) M() {}", ""},
		{"signature", "func F(a) (b, error) {}\ntype a int\ntype b struct{ c }\ntype c int\ntype d int", "func F(a) (b, error)\ntype a int\ntype b struct{ c }\ntype c int"},
		{"methods", "type T struct{}\nfunc (*T) m(a) {}\ntype a int\nfunc (a) String() string {}", "type T struct{}\nfunc (*T) m(a)\ntype a int\nfunc (a) String() string"},
		{"methods of generic types", "type T[K any] struct{}\nfunc (t *T[K]) M(a) {}\ntype U[K, V any] int\nfunc (U[_, _]) M() {}\ntype a int", "type T[K any] struct{}\n\nfunc (t *T[K]) M(a)\n\ntype U[K, V any] int\n\nfunc (U[_, _]) M()\n\ntype a int"},
		{"methods of an alias", "type T int\ntype a = b\ntype b = T\nfunc (a) M() {}", "type T int\ntype a = b\ntype b = T\nfunc (a) M()"},
		{"aliases that name each other", "type a = b\ntype b = a\nfunc (a) M() {}", ""},
		{"constants", "const (\n\ta = iota\n\tB\n)\nconst c = 1\ntype T [c]int\nconst d = 1", "const (\n\ta\t= iota\n\tB\n)\nconst c = 1\ntype T [c]int"},
		{"variables", "var (\n\ta = f()\n\tB = a\n\tc = 2\n)\nfunc f() int {}", "var (\n\ta\t= f()\n\tB\t= a\n)\nfunc f() int"},
		{"imports", "import \"io\"\nfunc f() io.Reader {}", "import \"io\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "", "package p\n"+tt.source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok {
					f.Body = nil
				}
			}
			var text bytes.Buffer
			if err := format.Node(&text, fset, reachable([]*ast.File{file})[0]); err != nil {
				t.Fatal(err)
			}
			got := strings.TrimSpace(strings.TrimPrefix(text.String(), "package p"))
			if plain(got) != plain(tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// plain returns code without what is only there for the eye.
func plain(code string) string { return strings.Join(strings.Fields(code), " ") }
