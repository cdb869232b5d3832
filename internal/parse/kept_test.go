package parse

import (
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestKept compares what is left of a dependency, q, when a package of the user needs some of it.
func TestKept(t *testing.T) {
	const none = ""
	tests := []struct{ name, user, q, want string }{
		{"nothing", `type T int`, "type T int\nvar V T", none},
		{"type", `type T q.A`, "type A b\ntype b int\ntype C int", "type A b\ntype b int"},
		{"type that another package mentions", `type T r.A`, "type A int\ntype B int", "type A int"},
		{"package that nothing needs", `import _ "q"`, "type A int", none},
		{"name that is not there", `type T q.A`, "type B int", none},

		{"method that nobody asks for", `type T q.A`, "type A int\nfunc (A) M(b) {}\ntype b int", "type A int"},
		{
			"method that the generator asks for", `type T q.A`, "type A int\nfunc (a A) String() string {}\nfunc (*A) Context() C {}\ntype C int",
			"type A int\nfunc (a A) String() string {}\nfunc (*A) Context() C {}\ntype C int",
		},
		{
			"method that a directive asks for", "//ratelimit:count=1 key={a.M()}\ntype T interface{ F(a q.A) }", "type A int\nfunc (A) M() b {}\ntype b int",
			"type A int\nfunc (A) M() b {}\ntype b int",
		},
		{
			"method that a constraint asks for", `type T[P q.C] int; type U T[q.A]`, "type C interface{ M() }\ntype A int\nfunc (A) M() {}\nfunc (A) N() {}",
			"type C interface { M() }\ntype A int\nfunc (A) M() {}",
		},
		{
			"method that a parameter asks for", `var v = q.F(q.V)`, "type C interface{ M() }\ntype A int\nfunc (A) M() {}\nfunc F(C) A {}\nvar V A\nvar W A",
			"type C interface { M() }\ntype A int\nfunc (A) M() {}\nfunc F(C) A {}\nvar V A",
		},
		{"method that is asked for later", `type T r.B[q.A]`, "type A int\nfunc (A) Late() {}", "type A int\nfunc (A) Late() {}"},
		{"method of an alias", `type T q.A`, "type A int\ntype b = c\ntype c = A\nfunc (b) String() string {}", "type A int\ntype b = c\ntype c = A\nfunc (b) String() string {}"},
		{"method of an alias in a group", `type T q.A`, "type (\n\tA int\n\tb = A\n)\nfunc (b) String() string {}", "type (\n\tA int\n\tb = A\n)\nfunc (b) String() string {}"},
		{"aliases that name each other", `type T q.A`, "type A = b\ntype b = A\nfunc (A) String() {}", "type A = b\ntype b = A\nfunc (A) String() {}"},
		{"methods of generic types", `type T q.A[int]`, "type A[K any] int\nfunc (a *A[K]) String() string {}\nfunc (A[_]) M() {}", "type A[K any] int\nfunc (a *A[K]) String() string {}"},

		{
			"interface", `type T q.A`, "type A interface { M(b) C; D }\ntype b int\ntype C int\ntype D interface { e() }",
			"type A interface { M(b) C; D }\ntype b int\ntype C int\ntype D interface { e(struct { func() struct{} }) }",
		},
		{
			"fields that nobody asks for", `type T q.A`, "type A struct { A, b *D; c []D; e map[D]D; f func(D) D; g chan<- D; h interface { M(D) } }\ntype D int",
			"type A struct { A, b *struct { *D struct{} }; c []struct { []D struct{} }; e map[struct { map[D]D struct{} }]struct { map[D]D struct{} }; " +
				"f func(struct { func(D) D struct{} }); g chan<- struct { chan<- D struct{} }; h interface { interface{M(D)}() } }",
		},
		{
			"fields that a directive asks for", "//ratelimit:count=1 key={a.B.C}\ntype T interface{ F(a q.A) }", "type A struct { B *D; e *D }\ntype D struct { C F; g *F }\ntype F string",
			"type A struct { B *D; e *struct { *D struct{} } }\ntype D struct { C F; g *struct { *F struct{} } }\ntype F string",
		},
		{
			"fields that are values", `type T q.A`, "type A struct { b D; e [n]D; f struct { *D; g D } }\ntype D struct { H *A; I }\ntype I interface { M(A) J; N() }\ntype J int\nconst n = 1\nfunc (D) String() string {}\nfunc (*D) Lock() {}",
			"type A struct { b D; e [n]D; f struct { *D *struct { *D struct{} }; g D } }\ntype D struct { H *struct { *A struct{} }; I }\ntype I interface { interface{M(A) J; N()}() }\nconst n = 1\nfunc (*D) Lock() {}",
		},
		{
			"fields that are embedded", `type T q.A`, "type A struct { *B; C }\ntype B struct { d *C }\ntype C interface { M() D }\ntype D int",
			"type A struct { *B; C }\ntype B struct { d *struct { *C struct{} } }\ntype C interface { M() D }\ntype D int",
		},
		{
			"fields of a generic type", `type T q.A[int, int]`, "type A[K, _ any] struct { b *K; c interface { M(K) }; d K }",
			"type A[K, _ any] struct { b *struct { *K struct{}; *K *K }; c interface { interface{M(K)}(*K *K) }; d K }",
		},
		{"struct that has no name of its own", `type T q.A`, "type A = struct { b *C }\ntype C int", "type A = struct { b *C }\ntype C int"},
		{"struct in another type", `type T q.A`, "type A []struct { b *C }\ntype C int", "type A []struct { b *C }\ntype C int"},

		{"constants", `type T [q.B]int`, "const (\n\ta = iota\n\tB\n\tc\n)\nconst d = 1", "const (\n\ta = iota\n\tB\n\tc\n)"},
		{"variables", `var v = q.B`, "var (\n\ta = 1\n\tB = c()\n)\nfunc c() D {}\ntype D int\nvar e = 1", "var (\n\tB = c()\n)\nfunc c() D {}\ntype D int"},
		{"variable with a type", `var v = q.A + 1`, "var A = B{c: d}\ntype B int\nvar d int", "var A B\ntype B int"},
		{
			"variable with a value that says much", `var v = q.A`, "var A = (f([]B{{c: d}}, func() {\n\te()\n}).M())\nfunc f([]B, func()) B {}\ntype B int\nvar d int\nfunc e() {}\nfunc (B) M() {}",
			"var A = (f([]B{}, func() {\n\tfor {\n\t}\n}).M())\nfunc f([]B, func()) B {}\ntype B int\nfunc (B) M() {}",
		},
		{"variable with elements that count", `var v [len(q.A)]int`, "var A = [...]string{1: b, c: d}\nconst b, c, d = \"\", 2, \"\"", "var A = [...]string{1: b, c: d}\nconst b, c, d = \"\", 2, \"\""},
		{"dot import", `import . "q"`, "type A int\ntype b int\nfunc C() {}", "type A int\nfunc C() {}"},
		{"names of parameters", `var v = q.F`, "func F(a, b int) (c int) {}\ntype a int\nvar b int\nvar c int", "func F(a, b int) (c int) {}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := kept(t, tt.user, tt.q); plain(got) != plain(tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// kept returns what is left of q.
func kept(t *testing.T, user, source string) string {
	t.Helper()
	const r = "package r\nimport \"q\"\ntype A q.A\ntype B[P interface { Late() }] int\n"
	sources := map[string]string{"q": "package q\n" + source, "r": r, "user": "package user\nimport (\n\t\"q\"\n\t\"r\"\n)\n" + user}
	s := newSource(token.NewFileSet(), types.SizesFor("gc", "amd64"), &listing{})
	s.readFile = func(path string) ([]byte, error) { return []byte(sources[path]), nil }
	s.demand.thin(nil)
	pkgs := make(map[string]*packages.Package)
	for path := range sources {
		pkgs[path] = &packages.Package{PkgPath: path, Name: path, GoFiles: []string{path}, Module: &packages.Module{Main: path == "user"}, Imports: pkgs}
	}
	s.checkAll([]*packages.Package{pkgs["user"]})
	var text strings.Builder
	for _, file := range s.unchecked(pkgs["q"]).syntax {
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok {
				decl = &ast.FuncDecl{Recv: function.Recv, Name: function.Name, Type: function.Type}
			}
			if err := format.Node(&text, s.fset, decl); err != nil {
				t.Fatal(err)
			}
			text.WriteString("\n")
		}
	}
	return text.String()
}

// plain returns code without blanks and empty bodies, and without the file in the names of what nobody needs.
func plain(code string) string {
	return strings.NewReplacer(" in q", "", " {}\n", "", " ", "", "\t", "", "\n", "", ";", "").Replace(code + "\n")
}
