package parse

import (
	"os"
	"path/filepath"
	"testing"
)

// What may be due to what is left out is never the last word: then all is loaded.
func TestDoubtfulLoadsAreWhole(t *testing.T) {
	tests := []struct {
		name, user, dependency string
		sparse                 bool
	}{
		{"sound", "type T dep.A", "type A int", true},
		{"error that nothing meets", "type T dep.A", "type A int\nfunc F() missing\ntype B = [-1]int", true},
		{"error in what is needed", "type T dep.A", "type A struct{ missing }", false},
		{"error in the package", "type T missing", "type A int", false},
		{"declaration that starts where another one goes on", "var v = dep.A", "var A =\nfunc(a int) int { return a }(1)", false},
		{"declaration that does not parse and nothing needs", "type T dep.A", "type A int\ntype B {\n}", true},
		{"the same without parameters", "var v = dep.A", "var A =\nfunc() int { return 1 }()", true},
		{"conversion", "var v = dep.A(dep.B{})", "type A struct{ p *int }\ntype B struct{ p *int }", true},
		{"conversion between instances of generic types that are spelled alike", "var v = dep.A[string](dep.B[int]{})", "type A[T any] struct{ p *T }\ntype B[T any] struct{ p *T }", false},
		{"file that is not formatted", "type T dep.A", "type A int; type B int", true},
		{"mistake in a directive", "//ratelimit:count=0\ntype T interface{ M() error }", "type A int", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for path, text := range map[string]string{
				"go.mod":     "module user\n\ngo 1.26\n\nrequire dep v0.0.0\n\nreplace dep => ./dep\n",
				"user.go":    "package user\n\nimport \"dep\"\n\n//ratelimit:count=1\ntype I interface{ M() error }\n" + tt.user + "\n",
				"dep/go.mod": "module dep\n\ngo 1.26\n",
				"dep/dep.go": "package dep\n\n" + tt.dependency + "\n",
			} {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			listed, err := List(Config{Dir: dir, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")})
			if err != nil {
				t.Fatal(err)
			}
			pkgs, _ := listed.LoadSparse(nil) // the mistakes are those of Load
			if len(pkgs) != 1 || pkgs[0].Sparse != tt.sparse {
				t.Errorf("got sparse=%t, want %t", !tt.sparse, tt.sparse)
			}
		})
	}
}
