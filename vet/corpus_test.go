package vet_test

import (
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/ratelimitgen/ratelimitgen/vet"
)

// wider are the cases of the corpus that are about several packages, and what the analyzer says of them: what it cannot see
// in one package is missing, and what is wrong with a line of another package is told where it is embedded.
var wider = map[string]string{
	"one_default_key_for_two_packages": "",
	"one_key_for_different_limits": `
a/a.go:4:14: key "io" is for 5 per 1s (token bucket) here, for 9 per 1s (token bucket) at a/a.go:9:14: want equal limits, or another key
a/a.go:9:14: key "io" is for 9 per 1s (token bucket) here, for 5 per 1s (token bucket) at a/a.go:4:14: want equal limits, or another key`,
	"conflict_beside_other_mistakes": `
a/a.go:10:30: count=0: want 1 to 1000000000
a/a.go:13:38: time=1minute: want seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d
a/a.go:16:38: time=1minute: want seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d
a/a.go:6:14: key "users" is for 5 per 1s (token bucket) here, for 6 per 1s (token bucket) at a/a.go:8:14: want equal limits, or another key
a/a.go:8:14: key "users" is for 6 per 1s (token bucket) here, for 5 per 1s (token bucket) at a/a.go:6:14: want equal limits, or another key
b/b.go:13:2: detached directive: it belongs in the doc comment of an interface or of its method, without a blank line between
b/b.go:20:48: methods=Gte: no such method: want one of Get
c/c.go:7:2: Get: other limits than at b/b.go:6:2: want the same ones, or a line on Get in Twice itself`,
	"expression_of_other_package": `
base/base.go:18:20: count=0: want 1 to 1000000000
users.go:5:6: key: {req.ID}: base.Request.meta may be nil and is not exported, but the decorator of app.Users needs it: want what can be written there, or Put with a line of its own there (at base/base.go:6:23)
users.go:5:6: key: {req.id}: base.Request.id is not exported, but the decorator of app.Users needs it: want what can be written there, or Get with a line of its own there (at base/base.go:4:30)
users.go:5:6: key: {string(K("x"))}: K is a type parameter of another interface, but the decorator of app.Users needs it: want what can be written there, or Get with a line of its own there (at base/base.go:4:39)
users.go:5:6: key: {tenant()}: base.tenant is not exported, but the decorator of app.Users needs it: want what can be written there, or Get with a line of its own there (at base/base.go:4:19)`,
	"expression_of_several_packages": `
base/base.go:13:20: count=0: want 1 to 1000000000
a/a.go:5:6: fallback=cached: base.cached is not exported, but the decorator of a.Users needs it: want what can be written there, or Put with a line of its own there (at base/base.go:8:31)
a/a.go:5:6: key: {tenant(ctx)}: base.tenant is not exported, but the decorator of a.Users needs it: want what can be written there, or Get with a line of its own there (at base/base.go:6:19)
a/a.go:7:6: fallback=cached: base.cached is not exported, but the decorator of a.Orders needs it: want what can be written there, or Put with a line of its own there (at base/base.go:8:31)
a/a.go:7:6: key: {tenant(ctx)}: base.tenant is not exported, but the decorator of a.Orders needs it: want what can be written there, or Get with a line of its own there (at base/base.go:6:19)
b/b.go:6:6: fallback=cached: base.cached is not exported, but the decorator of b.Users needs it: want what can be written there, or Put with a line of its own there (at base/base.go:8:31)
b/b.go:6:6: key: {tenant(ctx)}: base.tenant is not exported, but the decorator of b.Users needs it: want what can be written there, or Get with a line of its own there (at base/base.go:6:19)
b/b.go:8:6: fallback=cached: base.cached is not exported, but the decorator of b.Pages needs it: want what can be written there, or Put with a line of its own there (at base/base.go:8:31)
b/b.go:8:6: key: {tenant(ctx)}: base.tenant is not exported, but the decorator of b.Pages needs it: want what can be written there, or Get with a line of its own there (at base/base.go:6:19)`,
	"fallback_of_other_package": `
app.go:11:31: fallback=private: is private to example.com/app/base: want a function or another method
app.go:9:6: fallback=cached: base.cached is not exported, but the decorator of app.App needs it: want what can be written there, or Get with a line of its own there (at base/base.go:6:31)
base/base.go:10:31: fallback=local: no function of base and no method of Base: want the name of one`,
	"unknown_types": `
users.go:10:27: key: {tenant(ctx)}: unknown type: want one that compiles
users.go:12:27: key: {conf.Name}: unknown type: want one that compiles
users.go:12:39: key: {numbers[0]}: unknown type: want one that compiles
users.go:14:27: key: {made.Name}: unknown type: want one that compiles
users.go:16:28: cost: {request.Size}: unknown type: want one that compiles
users.go:16:48: skip: {request.Size > 3}: unknown type: want one that compiles
users.go:18:28: skip: {request.Is()}: unknown type: want request.go:9:24 to compile: undefined: Missing
users.go:20:27: key: {sdk.Name}: undefined: sdk: want a parameter, or a name of the file or the package
users.go:22:34: key: {string(tenant(ctx))}: unknown type: want one that compiles
users.go:22:49: key: {number(tenant(ctx)) + "x"}: unknown type: want one that compiles
users.go:6:31: fallback=cached: unknown type: want one that compiles
users.go:8:31: fallback=gone: unknown type: want one that compiles`,
	"unknown_imports": `
dotted.go:16:30: undefined: options
dotted.go:20:27: key: {Of(id)}: undefined: Of: want a parameter, or a name of the file or the package
dotted.go:20:36: key: {unlike.Of(id)}: undefined: unlike: want a parameter, or a name of the file or the package
dotted.go:20:52: key: {of(id)}: undefined: of: want a parameter, or a name of the file or the package
dotted.go:22:27: key: {box.Options}: unknown type: want dotted.go:26:32 to compile: undefined: Options
embedded.go:22:35: key: {request.ID}: request.ID undefined (type *Request has no field or method ID): want a field or a method that there is
embedded.go:22:53: key: {request.Base.ID}: request.Base.ID undefined (type *Base has no field or method ID): want a field or a method that there is
embedded.go:24:34: key: {reader.ID()}: reader.ID undefined (type Reader has no field or method ID): want a field or a method that there is
embedded.go:24:73: key: {len(request.Name.ID)}: request.Name.ID undefined (type string has no field or method ID): want a field or a method that there is
refused.go:12:31: fallback=cached: unknown type: want refused.go:9:37 to compile: undefined: ratelimit
users.go:25:27: key: {bar.Of(id)}: undefined: bar: want a parameter, or a name of the file or the package
users.go:25:40: key: {sdk.Of(id)}: unknown type: want one that compiles
users.go:25:58: cost: {missing.K}: undefined: missing: want a parameter, or a name of the file or the package
users.go:25:79: skip: {len(yaml.None) == 0}: undefined: yaml: want a parameter, or a name of the file or the package
users.go:27:27: key: {box.Client}: unknown type: want users.go:31:25 to compile: undefined: bar
users.go:27:44: key: {box.Oprions}: box.Oprions undefined (type Box has no field or method Oprions): want a field or a method that there is
users.go:6:2: could not import example.com/app/command (import "example.com/app/command" is a program, not an importable package)`,
	"near_miss_and_unknown_import": `
bodies.go:8:27: key: {other.ID}: undefined: other: want a parameter, or a name of the file or the package
directives.go:6:27: key: {quoted.Of(id)}: unknown type: want one that compiles
directives.go:8:27: key: {other.ID}: undefined: other: want a parameter, or a name of the file or the package
slips.go:14:27: key: {tenent.ID}: undefined: tenent: did you mean "tenant"?
slips.go:14:39: key: {falbackTenant.ID}: undefined: falbackTenant: did you mean "fallbackTenant"?
slips.go:14:58: key: {contxt.Cause(ctx).Error()}: undefined: contxt: did you mean "context"?
slips.go:16:27: key: {other.ID}: undefined: other: want a parameter, or a name of the file or the package`,
	"instantiation_cycle": `
sound/sound.go:4:20: count=0: want 1 to 1000000000
users.go:5:12: instantiation cycle: T instantiated as *T`,
	"fallback_of_the_tests": `
users.go:6:31: fallback=fake: is a function of the tests: want it in a file that is no test
users.go:6:31: fallback=fake: no function of app and no method of Users: want the name of one`,
}

// TestSaysWhatGenerateSays runs the analyzer over everything that must not generate, and compares what it says, together
// with what the compiler says, with what generate does.
func TestSaysWhatGenerateSays(t *testing.T) {
	cases, err := filepath.Glob("../generated_test/fail/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range cases {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "args" }) {
			continue // mistakes of -into, which an analyzer does not have
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			want := extract(t, archive, dir)
			if text, ok := wider[name]; ok {
				want = text
			}
			said, compiler := analyze(t, dir)
			for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
				if compiler[line] {
					said[line] = true
				}
			}
			got := strings.Join(slices.Sorted(maps.Keys(said)), "\n")
			lines := strings.Split(strings.TrimSpace(want), "\n")
			slices.Sort(lines)
			if want := strings.Join(lines, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// analyze returns what the analyzer and the compiler say about the module in dir.
func analyze(t *testing.T, dir string) (said, compiler map[string]bool) {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode:  packages.LoadSyntax | packages.NeedModule, // with the standard library as the compiler exports it
		Dir:   dir,
		Env:   append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=1"),
		Tests: true,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	said, compiler = map[string]bool{}, map[string]bool{}
	facts := map[*types.Package]analysis.Fact{}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			compiler[strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n\t", " "), dir+string(filepath.Separator))] = true
		}
		if !slices.Contains(pkgs, p) || len(p.Syntax) == 0 {
			return
		}
		pass := newPass(p, facts)
		pass.Report = func(d analysis.Diagnostic) {
			line := fmt.Sprintf("%v: %s", p.Fset.PositionFor(d.Pos, false), d.Message)
			said[strings.ReplaceAll(line, dir+string(filepath.Separator), "")] = true // as go vet prints it
		}
		if _, err := vet.Analyzer.Run(pass); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
	})
	return said, compiler
}

// newPass is what a driver gives to the analyzer. As go vet does it hands on the facts of the packages that p imports
// itself.
func newPass(p *packages.Package, facts map[*types.Package]analysis.Fact) *analysis.Pass {
	return &analysis.Pass{
		Analyzer:     vet.Analyzer,
		Fset:         p.Fset,
		Files:        p.Syntax,
		IgnoredFiles: p.IgnoredFiles,
		Pkg:          p.Types,
		TypesInfo:    p.TypesInfo,
		TypesSizes:   p.TypesSizes,
		TypeErrors:   p.TypeErrors,
		Module:       &analysis.Module{Path: p.Module.Path, Version: p.Module.Version},
		ReadFile:     os.ReadFile,
		AllPackageFacts: func() []analysis.PackageFact {
			var known []analysis.PackageFact
			for _, imported := range p.Types.Imports() {
				if fact := facts[imported]; fact != nil {
					known = append(known, analysis.PackageFact{Package: imported, Fact: fact})
				}
			}
			return known
		},
		ExportPackageFact: func(fact analysis.Fact) { facts[p.Types] = fact },
	}
}

// extract writes the archive's files to dir, under a go.mod unless they have one, and returns its stderr.
func extract(t *testing.T, archive *txtar.Archive, dir string) (stderr string) {
	t.Helper()
	files := append([]txtar.File{{Name: "go.mod", Data: []byte("module example.com/app\n\ngo 1.26\n")}}, archive.Files...)
	for _, f := range files {
		if f.Name == "stderr" {
			stderr = string(f.Data)
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return stderr
}
