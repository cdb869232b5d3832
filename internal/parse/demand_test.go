package parse

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// askedFor are names of fields and methods that a directive mentions.
var askedFor = []string{"Name", "Header", "Body", "URL", "Close", "Len", "Read", "Type", "Elem", "Addr", "Value", "ID", "Bytes", "Kind"}

// TestSparseTypesAreLikeWholeOnes compares what can be seen of every exported type of the standard library.
func TestSparseTypesAreLikeWholeOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the standard library")
	}
	std, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile}, "std")
	if err != nil {
		t.Fatal(err)
	}
	var imports, vars strings.Builder
	for i, p := range std {
		if strings.Contains(p.PkgPath, "internal") || strings.HasPrefix(p.PkgPath, "vendor/") || p.PkgPath == "unsafe" {
			continue
		}
		used := false
		for _, name := range p.Types.Scope().Names() {
			obj, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok || !obj.Exported() || typeParamsOf(obj.Type()).Len() > 0 {
				continue
			}
			if iface, ok := obj.Type().Underlying().(*types.Interface); ok && !iface.IsMethodSet() {
				continue
			}
			fmt.Fprintf(&vars, "var V%d_%s p%[1]d.%[2]s\n", i, name)
			used = true
		}
		if used {
			fmt.Fprintf(&imports, "import p%d %q\n", i, p.PkgPath)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/all\n\ngo 1.26\n",
		"all.go": fmt.Sprintf("package all\n%s%s//ratelimit:count=1 key={a.%s}\ntype I interface{ M() error }\n", &imports, &vars, strings.Join(askedFor, ".")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := List(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	load := func(pkgs []*Package, err error) *Package {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range pkgs[0].source.errs {
			t.Error(pkgs[0].source.fset.Position(err.Pos), err.Msg)
		}
		return pkgs[0]
	}
	want, got := load(listed.Load()), load(listed.LoadSparse(nil))
	if !got.Sparse || want.Sparse {
		t.Fatal("not loaded as it should be")
	}
	names := want.Types.Scope().Names()
	if len(names) < 1000 {
		t.Fatalf("only %d types", len(names))
	}
	for _, name := range names {
		seen := facts(got, name)
		for fact, text := range facts(want, name) {
			if seen[fact] != text {
				t.Errorf("%s: %s is %q, want %q", want.Types.Scope().Lookup(name).Type(), fact, seen[fact], text)
			}
		}
	}
}

// facts returns what can be seen of the type of a variable.
func facts(p *Package, name string) map[string]string {
	facts := make(map[string]string)
	typ := p.Types.Scope().Lookup(name).Type()
	if typ == types.Typ[types.Invalid] {
		return nil
	}
	facts["size"] = fmt.Sprint(p.source.sizes.Sizeof(typ), p.source.sizes.Alignof(typ))
	facts["comparable"] = fmt.Sprint(types.Comparable(typ))
	facts["locks"] = fmt.Sprint(locks(typ))
	switch t := typ.Underlying().(type) {
	case *types.Struct:
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				facts[m.Name()] = types.ObjectString(m, nil)
			}
		}
	default:
		facts["definition"] = types.TypeString(t, nil)
	}
	for _, name := range slices.Concat(always, askedFor) {
		obj, index, indirect := types.LookupFieldOrMethod(typ, true, p.Types, name)
		if len(index) > 0 {
			facts[name] = fmt.Sprint(obj, index[:len(index)-1], indirect) // methods that nobody asks for do not count
		}
	}
	return facts
}

// locks returns what a type has that must not be copied for its Lock method, in its own memory.
func locks(t types.Type) []string {
	var all []string
	lock, _, _ := types.LookupFieldOrMethod(t, true, nil, "Lock")
	if ofValue, _, _ := types.LookupFieldOrMethod(t, false, nil, "Lock"); lock != nil && ofValue == nil {
		all = append(all, lock.String())
	}
	switch t := t.Underlying().(type) {
	case *types.Array:
		all = append(all, locks(t.Elem())...)
	case *types.Struct:
		for field := range t.Fields() {
			all = append(all, locks(field.Type())...)
		}
	}
	return all
}
