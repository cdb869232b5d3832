package generated_test

import (
	"bytes"
	"fmt"
	"go/types"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// needWhole are the cases that say what only packages that are loaded as a whole can tell.
var needWhole = []string{"reexports"}

// TestSparseLoadsOfTheCorpus compares what is generated of packages without what nothing needs.
func TestSparseLoadsOfTheCorpus(t *testing.T) {
	for _, cfg := range []parse.Config{{}, {Into: filepath.Join(intoDir, "limited")}} {
		pattern := "./..."
		if cfg.Into != "" {
			pattern = "./" + intoDir + "/..."
		}
		listed, err := parse.List(cfg, pattern)
		if err != nil {
			t.Fatal(err)
		}
		compareLoads(t, listed, needWhole)
	}
}

// compareLoads compares what is generated of packages that are loaded sparsely and as a whole, but for the cases that need the
// latter. It returns the number of files.
func compareLoads(t *testing.T, listed *parse.Listing, needWhole []string) int {
	t.Helper()
	whole, err := listed.Load()
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := listed.LoadSparse(generate.Stubs)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	sources := map[*parse.Package]map[*parse.File][]byte{} // by target
	for i, pkg := range sparse {
		if !pkg.Sparse {
			t.Fatalf("%s is loaded as a whole", pkg.Dir)
		}
		for j, f := range pkg.Files {
			want, wantErr := generate.File(whole[i].Files[j])
			got, err := generate.File(f)
			switch needs := slices.Contains(needWhole, filepath.Base(pkg.Dir)); {
			case err != nil && (wantErr != nil || needs):
			case needs:
				t.Errorf("%s does not need to be loaded as a whole", f.Path)
			case err != nil || !bytes.Equal(got, want):
				t.Errorf("%s: got %v\n%s\nwant %v\n%s", f.Path, err, got, wantErr, want)
			default:
				if sources[f.Target()] == nil {
					sources[f.Target()] = map[*parse.File][]byte{}
				}
				sources[f.Target()][f] = got
				n++
			}
		}
	}
	for target, sources := range sources {
		verify(t, target, sources)
	}
	return n
}

// TestSparseLoadsOfDependencies does the same with what dependencies may have that is hard to leave out.
func TestSparseLoadsOfDependencies(t *testing.T) {
	cases, err := filepath.Glob("testdata/sparse/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range cases {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir, want := t.TempDir(), 0
			for _, file := range archive.Files {
				write(t, filepath.Join(dir, file.Name), file.Data)
				if filepath.Ext(file.Name) == ".go" && filepath.Base(file.Name) == file.Name && !strings.HasPrefix(file.Name, "bad_") {
					want++
				}
			}
			listed, err := parse.List(parse.Config{Dir: dir, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")})
			if err != nil {
				t.Fatal(err)
			}
			if got := compareLoads(t, listed, nil); got != want {
				t.Errorf("%d files without mistakes, want %d", got, want)
			}
		})
	}
}

// TestSparseLoadsOfRandomTypes does the same with interfaces that mention random types of the standard library.
func TestSparseLoadsOfRandomTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the standard library")
	}
	const mode = packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile
	std, err := packages.Load(&packages.Config{Mode: mode}, "std")
	if err != nil {
		t.Fatal(err)
	}
	r := &randomTypes{Rand: rand.New(rand.NewPCG(*seed, 1))}
	for _, p := range std {
		path := "/" + p.PkgPath
		if strings.Contains(path, "/internal") || strings.HasPrefix(path, "/vendor/") || p.PkgPath == "unsafe" {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			if t, ok := p.Types.Scope().Lookup(name).(*types.TypeName); ok && t.Exported() {
				r.add(t)
			}
		}
	}
	dir, n := randomModule(t), 0
	const loads, each = 12, 12 // one load knows what all of its files need
	for i := range loads {
		for j := range each {
			write(t, filepath.Join(dir, fmt.Sprint("p", i), fmt.Sprintf("random%d.go", j)), r.file(j))
		}
		cfg := parse.Config{Dir: dir, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")}
		listed, err := parse.List(cfg, fmt.Sprint("./p", i))
		if err != nil {
			t.Fatal(err)
		}
		n += compareLoads(t, listed, nil)
	}
	if n < loads*each*2/3 {
		t.Errorf("with -seed=%d: only %d files without mistakes", *seed, n)
	}
}

// randomTypes writes interfaces that mention random types.
type randomTypes struct {
	*rand.Rand
	interfaces, others []*types.TypeName
	generic            []*types.TypeName // that take any type
}

func (r *randomTypes) add(t *types.TypeName) {
	params := t.Type().(interface{ TypeParams() *types.TypeParamList }).TypeParams()
	iface, ok := t.Type().Underlying().(*types.Interface)
	switch {
	case params.Len() > 0:
		for param := range params.TypeParams() {
			if param.Constraint().String() != "any" {
				return
			}
		}
		r.generic = append(r.generic, t)
	case !ok:
		r.others = append(r.others, t)
	case iface.IsMethodSet():
		r.interfaces = append(r.interfaces, t)
	}
}

// file returns a file with interfaces, and with types that they mention beside those of the standard library.
func (r *randomTypes) file(i int) []byte {
	imports := map[string]string{"context": "context"} // names by path
	name := func(t *types.TypeName) string {
		path := t.Pkg().Path()
		if imports[path] == "" {
			imports[path] = fmt.Sprint("p", len(imports))
		}
		return imports[path] + "." + t.Name()
	}
	pick := func(list []*types.TypeName) *types.TypeName { return list[r.IntN(len(list))] }
	t, generic := pick(r.others), pick(r.generic)
	T, U, I := name(t), name(pick(slices.Concat(r.others, r.interfaces))), name(pick(r.interfaces))
	args := make([]string, generic.Type().(*types.Named).TypeParams().Len())
	for j := range args {
		args[j] = []string{T, "*" + T, U, "string"}[r.IntN(4)]
	}
	mapKey := T
	if !types.Comparable(t.Type()) {
		mapKey = "*" + T
	}
	part, kinds := r.part(t.Type()), []string{T, "*" + T, "S#", "D#"}
	if strings.HasSuffix(part, "()}") {
		kinds = kinds[:3]
	}
	embedded := []string{"", I}[r.IntN(2)]
	source := strings.NewReplacer("#", fmt.Sprint(i), "TYPE", T, "OTHER", U, "IFACE", I, "EMBEDDED", embedded, "MAPKEY", mapKey,
		"GENERIC", name(generic)+"["+strings.Join(args, ", ")+"]", "PART", part, "KIND", kinds[r.IntN(len(kinds))]).Replace(randomTypesFile)
	var head strings.Builder
	head.WriteString("package random\n\nimport (\n")
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&head, "\t%s %q\n", imports[path], path)
	}
	return []byte(head.String() + ")\n" + strings.ReplaceAll(source, "#", fmt.Sprint(i)))
}

const randomTypesFile = `
type D# TYPE

type A# = OTHER

type S# struct {
	TYPE
	b# *OTHER
}

type C#[T IFACE, U comparable] interface {
	//ratelimit:count=5
	Of(ctx context.Context, t T, u U) (T, error)
}

//ratelimit:count=5 methods=M#*
type I# interface {
	EMBEDDED
	//ratelimit:count=5 key=k#PART
	M#Part(ctx context.Context, t KIND) (struct{ A TYPE; B [3]A# }, error)
	M#Func(ctx context.Context, u *OTHER, f func(TYPE) OTHER) (a TYPE, b OTHER, err error)
	M#Of(ctx context.Context, m map[MAPKEY]OTHER, c <-chan GENERIC) ([2]TYPE, error)
	M#Own(ctx context.Context, d D#, a A#, s *S#, more ...OTHER) (D#, error)
}
`

// part returns a part of a key that begins with t, of that type; "" if there is none.
func (r *randomTypes) part(t types.Type) string {
	var parts []string
	isPart := func(t types.Type) bool {
		basic, ok := t.Underlying().(*types.Basic)
		return ok && basic.Info()&(types.IsString|types.IsInteger|types.IsBoolean) != 0
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for field := range s.Fields() {
			if field.Exported() && isPart(field.Type()) {
				parts = append(parts, "t."+field.Name())
			}
		}
	}
	for selection := range types.NewMethodSet(t).Methods() {
		sig := selection.Type().(*types.Signature)
		if selection.Obj().Exported() && sig.Params().Len() == 0 && sig.Results().Len() == 1 && isPart(sig.Results().At(0).Type()) {
			parts = append(parts, "t."+selection.Obj().Name()+"()")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + parts[r.IntN(len(parts))] + "}"
}
