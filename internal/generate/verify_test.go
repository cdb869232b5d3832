package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

const (
	// users has one decorator, which the cases of these tests spoil.
	users = `
-- go.mod --
module example.com/users

go 1.26
-- users.go --
package users

import "context"

type Users interface {
	//ratelimit:count=5
	Get(ctx context.Context, id string) (string, error)
	Len() int
}
`
	at     = "users.go:5:6: Users: fault of ratelimitgen: the code for this interface would not compile: "
	report = ": please report it at https://github.com/ratelimitgen/ratelimitgen/issues"
)

// verify generates the module of an archive, replaces text in what is generated, and returns the verdict.
func verify(t *testing.T, archive string, replacements ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=1", "GOOS=linux")
	pkgs, err := parse.Load(parse.Config{Dir: dir, Env: env}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	replaced := false
	var faults parse.Diagnostics
	for _, pkg := range pkgs {
		sources := map[*parse.File][]byte{}
		for _, f := range pkg.Files {
			source, err := generate.File(f)
			if err != nil {
				t.Fatal(err)
			}
			spoiled := strings.NewReplacer(replacements...).Replace(string(source))
			replaced = replaced || spoiled != string(source)
			sources[f] = []byte(spoiled)
		}
		faults = append(faults, generate.Verify(pkg, sources)...)
	}
	if !replaced && len(replacements) > 0 {
		t.Fatalf("the generated code has no %q", replacements[0])
	}
	faults.Sort()
	return strings.ReplaceAll(faults.Error(), dir+"/", "")
}

func TestFaultyCodeIsReportedAtItsInterface(t *testing.T) {
	tests := []struct{ name, more, old, new, want string }{
		{"undefined name", "", `return "", err`, `return zero, err`, at + `undefined: zero, in "return zero, err"` + report},
		{
			"wrong type", "", `return "", err`, `return nil, err`,
			at + `cannot use nil as string value in return statement, in "return nil, err"` + report,
		},
		{"unused import", "", "import (\n", "import (\n\t_time \"time\"\n", at + `"time" imported as _time and not used, in "_time \"time\""` + report},
		{"unused variable", "", `return u.next.Len()`, `n := 1; return u.next.Len()`, at + `declared and not used: n, in "n := 1; return u.next.Len()"` + report},
		{"missing return", "", `return u.next.Len()`, ``, at + `missing return, in "}"` + report},
		{
			"method that is missing", "", "Len() int", "Size() int",
			at + `cannot use (*RateLimitedUsers)(nil) (value of type *RateLimitedUsers) as Users value in variable declaration: ` +
				`*RateLimitedUsers does not implement Users (missing method Len), in "var _ Users = (*RateLimitedUsers)(nil)"` + report,
		},
		{
			"method that the runtime does not have", "", "u.get.Allow(ctx)", "u.get.Alow(ctx)",
			at + `u.get.Alow undefined (type *ratelimit.Guard has no field or method Alow), ` +
				`in "if err := u.get.Alow(ctx); err != nil {"` + report,
		},
		{
			"field that the runtime does not have", "", "Key: ", "Kee: ",
			at + `unknown field Kee in struct literal of type ratelimit.Rule, in "Kee:   \"users.Users.Get\","` + report,
		},
		{"syntax", "", "func (u ", "func (u u ", at + `missing ',' in parameter list, in "func (u u *RateLimitedUsers) Unwrap() Users {"` + report},

		{
			"import that is called like a variable", "-- other.go --\npackage users\n\nvar limits int\n", "\tratelimit ", "\tlimits ",
			at + `limits is declared by the package, in "limits \"github.com/ratelimitgen/ratelimitgen/runtime\""` + report,
		},
		{
			"import that is called like a function of another build", "-- other_windows.go --\npackage users\n\nfunc time() {}\n",
			"stdtime ", "", at + `time is declared by the package, in "\"time\""` + report,
		},
		{
			"declaration that is called like a function of a test", "-- a_test.go --\npackage users\n\nfunc helper() {}\n",
			"const _ = ", "const helper = ", at + `helper is declared by the package, in "const helper = ratelimit.GeneratedV1"` + report,
		},
		{
			"second interface of a file", "-- z.go --\npackage users\n\ntype (\n\tA interface{ Users }\n\tB interface{ Users }\n)\n",
			"func (b *RateLimitedB) Len() int", "func (b *RateLimitedB) Len() string",
			`z.go:5:2: B: fault of ratelimitgen: the code for this interface would not compile: cannot use (*RateLimitedB)(nil) ` +
				`(value of type *RateLimitedB) as B value in variable declaration: *RateLimitedB does not implement B ` +
				`(wrong type for method Len) have Len() string want Len() int, in "var _ B = (*RateLimitedB)(nil)"` + report,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := verify(t, users+tt.more, tt.old, tt.new); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// What somebody else is to blame for is left to the compiler, even if the code is faulty, too.
func TestErrorsElsewhereAreNoFaults(t *testing.T) {
	const requireFake = "\nrequire github.com/ratelimitgen/ratelimitgen v0.0.0\n\nreplace github.com/ratelimitgen/ratelimitgen => ./fake\n"
	tests := []struct{ name, more string }{
		{"package with an error", "-- a.go --\npackage users\n\nvar a missing\n"},
		{"package that lacks what others generate", "-- a.go --\npackage users\n\nvar a = NewMock()\n"},
		{"dependency with an error", "-- a.go --\npackage users\n\nimport \"example.com/users/q\"\n\nvar a q.A\n" +
			"-- q/q.go --\npackage q\n\ntype A struct{ missing }\n"},
		{"import that is missing", "-- a.go --\npackage users\n\nimport \"example.com/users/q\"\n\nvar a q.A\n"},
		{"types of C", "-- a.go --\npackage users\n\nimport \"C\"\n\ntype A C.int\n"},
		{"dependency on types of C", "-- a.go --\npackage users\n\nimport \"example.com/users/q\"\n\nvar a q.A\n" +
			"-- q/q.go --\npackage q\n\nimport \"C\"\n\ntype A C.int\n"},
		{"runtime of an older version", "-- go.mod --\nmodule example.com/users\n\ngo 1.26\n" + requireFake +
			"-- a.go --\npackage users\n\nimport \"github.com/ratelimitgen/ratelimitgen/runtime\"\n\nvar a ratelimit.Limiter\n" +
			"-- fake/go.mod --\nmodule github.com/ratelimitgen/ratelimitgen\n\ngo 1.26\n" +
			"-- fake/runtime/runtime.go --\npackage ratelimit\n\ntype Limiter struct{}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := verify(t, users+tt.more, `return "", err`, `return zero, err`); got != "" {
				t.Errorf("got\n%s\nwant nothing", got)
			}
		})
	}
}

// What a package does to the names of its decorators is its own affair, and so is how it uses them.
func TestMistakesWithDecoratorsAreNoFaults(t *testing.T) {
	tests := []struct{ name, more string }{
		{"method of the decorator", "func (*RateLimitedUsers) Get() {}"},
		{"method that is called like a field", "func (*RateLimitedUsers) next() {}"},
		{"method that the interface has not", "func (*RateLimitedUsers) Close() error { return nil }"},
		{"constructor with other arguments", "var a = NewRateLimitedUsers(1)"},
		{"decorator as a variable", "var a, b = NewRateLimitedUsers(nil, nil), (*RateLimitedUsers).Get"},
		{"decorator as the result of a method", "type Maker interface {\n\t//ratelimit:count=1\n\tMake() (*RateLimitedMaker, RateLimitedUsers, error)\n}"},
		{"decorators in constraints", "type Of[T RateLimitedUsers, P interface{ *T; Len() int }] interface {\n\t//ratelimit:count=1\n\tMake(T) (P, error)\n}"},
		{"interface that the decorator is embedded in", "type A struct{ RateLimitedUsers }\n\nvar _ Users = &A{}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := verify(t, users+"-- a.go --\npackage users\n\n"+tt.more+"\n"); got != "" {
				t.Errorf("got\n%s\nwant nothing", got)
			}
		})
	}
}
