package parse

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

func TestBringsIn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  bool
	}{
		{"methods only", []string{"type I interface { Do(io.Reader, other.T) error }"}, false},
		{"another package", []string{"type I interface { other.I }"}, true},
		{"another package, generic", []string{"type I interface { (other.I[int]) }"}, true},
		{"a package that does not matter", []string{"type I interface { io.Reader }"}, false},
		{"generic with something of another package", []string{"type I interface { J[other.T, other.T] }", "type J[A, B any] interface { Do(A, B) }"}, false},
		{"a written interface", []string{"type I interface { J }", "type J interface { Do() }"}, false},
		{"an alias of a written interface", []string{"type I interface { J }", "type J = interface { Do() }"}, false},
		{"an interface that brings in something itself", []string{"type I interface { J }", "type J interface { other.I }"}, true},
		{"an alias", []string{"type I interface { J }", "type J = other.I"}, true},
		{"a defined type", []string{"type I interface { J }", "type J other.I"}, true},
		{"a defined type that is not embedded", []string{"type J other.I"}, false},
		{"an alias in another build", []string{"type I interface { J }", "type J interface { Do() }", "type J = other.I"}, true},
		{"the same in another order", []string{"type J = other.I", "type J interface { Do() }", "type I interface { J }"}, true},
		{"nobody knows what", []string{"type I interface { J }"}, true},
		{"predeclared", []string{"type I interface { error; comparable }"}, false},
		{"not the predeclared", []string{"type I interface { error }", "type error = other.I"}, true},
		{"perhaps not the predeclared", []string{"import . \"other\"\ntype I interface { error }"}, true},
		{"terms of a constraint", []string{"type I interface { ~int | other.T; ~string }"}, false},
		{"without a name", []string{"var x interface { other.I }"}, true},
		{"without a name, inside", []string{"type I interface { interface { other.I } }"}, true},
		{"parameter", []string{"func f[T interface { other.I }](T) {}"}, true},
	} {
		var files []*ast.File
		for _, text := range tt.files {
			file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		if got := bringsIn(files, func(_ int, name string) bool { return name == "io" }); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
}
