package parse

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		name, source string
		want         string // names, a method with its type before it
	}{
		{"one of each", "import \"a\"\nfunc f() {}\nfunc (t T) M() {}\ntype T int\nvar v = 1\nconst c = 1", "f T.M T v c"},
		{"body with braces in strings, runes and comments", "func f() { \"}\\\"}\"; '}'; '\\''; `}\nfunc h() {}`; /* } */ // }\n}\nfunc g() {}", "f g"},
		{"no body", "func f() int\nfunc g()", "f g"},
		{"types that have braces", "func f(a struct{ b int }, c interface{}) (d struct {\n}) { e }\nfunc g() interface{ M() } { h }", "f g"},
		{"parameters on lines of their own", "func f(\n\ta int,\n) {\n}\nvar a int", "f a"},
		{"declaration in a string or comment", "var a = `\nfunc f() {}\n`\n/*\nfunc g() {}\n*/\n// var b int", "a"},
		{"value on lines of its own", "var a =\n\tb +\n\tc\n\nvar d int", "a d"},
		{"several names", "var a, b,\n\tc = 1, 2, 3\nconst d, e = 1, 2", "a b c d e"},
		{"receivers", "func (T) A() {}\nfunc (*T) B() {}\nfunc (t *T[K, V]) C() {}\nfunc (t (*T),) D() {}", "T.A T.B T.C T.D"},
		{"generic", "type A[T any, U interface{ B() }] struct {\n\tc int\n}\nfunc d[T any]() {}", "A d"},
		{"alias", "type A = B", "A"},
		{"groups", "var (\n\ta int\n\tb, c = f(\n\t\td,\n\t), 2\n)\ntype (\n\te struct {\n\t\tg int\n\t}\n)\nconst (\n\th = iota; i\n\t// j\n\n\tk\n)", "a b c e h i k"},
		{"groups on one line", "var (a int; b = func() { c }; d int)\ntype ()\nconst (e = 1)", "a b d e"},
		{"group with a comment that looks like an end", "var (\n\ta int // )\n\tb int /* )\n*/\n\tc int\n)", "a b c"},
		{"line of a group that goes on", "const (\n\ta = b +\n\t\tc\n\td = 1\n)", "a c d"}, // c is one too many
		{"letters of any kind", "var ä, 世界 int\nfunc (ß *Ö) É() {}", "ä 世界 Ö.É"},
		{"CRLF", "func f() {\r\n}\r\n\r\nvar a int\r\n", "f a"},
		{"comments in between", "func /* a */ f /* b */ () {}\nvar /* c */ d int\ntype // e\n\tg int", "f d g"},

		{"receiver on lines of its own", "func (\n\tt *T[\n\t\tK,\n\t],\n) A() {}\nfunc (\n\tt *T,\n) B() {}", "T.A T.B"},

		{"declarations on one line", "var a int; func f() {}", "?"},
		{"declaration behind another one", "func f() {}; var a int", "?"},
		{"import behind a declaration", "var a int\nimport \"b\"", "?"},
		{"comment in a receiver", "func (t T /* K */) M() {}", "?"},
		{"something else", "a = 1", "?"},
		{"brace too many", "func f() {}\n}", "?"},
		{"brace too few", "func f() {", "?"},
		{"string that does not end", "var a = `b\nfunc f() {}", "a"}, // for the parser to say
		{"no name", "func () {}", "?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &outline{file: &sourceFile{src: []byte("package p\n" + tt.source)}}
			got := "?"
			if o.split() {
				var names []string
				for _, p := range o.pieces {
					if p.receiver != "" {
						p.names[0] = p.receiver + "." + p.names[0]
					}
					names = append(names, p.names...)
				}
				got = strings.Join(names, " ")
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The brace of a result type starts no body, whatever is before it.
func TestBraceOfResult(t *testing.T) {
	for _, source := range []string{
		"func f() struct /* a */ { B, C string } { return d }",
		"func f() struct // a\n{ B, C string } { return d }",
		"func f() struct\n\n{ B string } { return d }",
		"func f() interface /* a */ /* b */\n{ B() } { return d }",
		"func f() []*struct{ B struct { C int } } { return d }",
		"func f() (a struct{}) /* struct */ { return d }",
		"func f() /* struct */ { return d }",
		"func f() // struct\n\nfunc g() { return d }",
		"func f() mystruct { return d }",
		"func f() äinterface { return d }",
		"func f() func() struct /* a */ { B string } { return d }",
	} {
		if src := []byte("package p\n" + source); !checkPieces(t, src) {
			t.Errorf("%s: cannot be divided", source)
		} else if bare := string(withoutBodies(src)); strings.Contains(bare, "return") {
			t.Errorf("%s: got %s, want no body", source, bare)
		}
	}
}

// TestPiecesAreWhatTheParserFinds compares declarations of the standard library.
func TestPiecesAreWhatTheParserFinds(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{"net/http", "go/types", "strconv", "text/template", "internal/abi", "runtime", "syscall", "unicode"}
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
			if !checkPieces(t, src) {
				t.Errorf("%s cannot be divided", path)
			}
		}
	}
}

func FuzzPieces(f *testing.F) {
	for _, src := range []string{
		"package p\nfunc f(a struct{ b func() }) interface{} { return `}\n` }\nvar a = '}'",
		"package p\nfunc f[T interface{ ~[]E }, E any](T /* { */) (a int) {\n\tvar _ = \"}\\\"\" // }\n}\n",
		"package p\nfunc /* f */ (T) f() int\nfunc g() {}\ntype (\n\ta = b\n\tc struct{ d int }\n)\nvar e, f = 1,\n2",
		"package p\nimport \"C\"\nconst (\n\ta = iota; b\n)\nfunc (t (*T[K]),) M() {}",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) { checkPieces(t, src) })
}

// checkPieces checks that a source that parses has the same declarations at the same places in pieces and without bodies, and
// that the pieces declare what they seem to. It reports whether there are pieces.
func checkPieces(t *testing.T, src []byte) bool {
	t.Helper()
	s := newSource(token.NewFileSet(), nil, &listing{})
	base := s.fset.Base()
	file, err := parseAt(base, "", src, 0)
	if err != nil {
		return false
	}
	var want []string
	for _, decl := range file.Decls {
		if group, ok := decl.(*ast.GenDecl); !ok || group.Tok != token.IMPORT && len(group.Specs) > 0 {
			want = append(want, describe(pruneDecl(decl)))
		}
	}
	whole := &outline{source: s, file: &sourceFile{}}
	bare, err := parseAt(base, "", withoutBodies(src), 0)
	for _, decl := range bare.Decls {
		whole.add(pruneDecl(decl))
	}
	if got := described(whole); err != nil || !slices.Equal(got, want) {
		t.Errorf("without bodies %v: got %q, want %q", err, got, want)
	}
	divided := &outline{source: s, file: &sourceFile{src: src}, pkg: &packages.Package{}}
	if !divided.split() {
		return false
	}
	for i, p := range divided.pieces {
		if !p.parse() {
			t.Fatalf("%s does not parse alone", src[p.start:p.end])
		}
		known := slices.Compact(slices.Sorted(slices.Values(p.names)))
		for name := range p.named {
			if _, found := slices.BinarySearch(known, name); !found {
				t.Errorf("%s: has no %s", src[p.start:p.end], name)
			}
		}
		if want := whole.pieces[i].receiver; p.receiver != want {
			t.Errorf("%s: got the receiver %s, want %s", src[p.start:p.end], p.receiver, want)
		}
	}
	if got := described(divided); !slices.Equal(got, want) {
		t.Errorf("in pieces: got %q, want %q", got, want)
	}
	return true
}

func described(o *outline) []string {
	var texts []string
	for _, p := range o.pieces {
		if len(p.named) > 0 {
			texts = append(texts, describe(p.units[0].decl))
		}
	}
	return texts
}

// describe returns the code of a declaration, with the position of every node.
func describe(decl ast.Decl) string {
	var text strings.Builder
	if err := format.Node(&text, token.NewFileSet(), decl); err != nil {
		return err.Error()
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if n != nil {
			fmt.Fprintf(&text, " %d", n.Pos())
		}
		return true
	})
	return text.String()
}
