package generated_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

var seed = flag.Uint64("seed", 1, "for the expressions of TestRandomExpressions")

// TestRandomExpressions writes an interface with random expressions in its directives, and calls its decorator with
// random arguments, full of nil pointers. A part of a key must be what Go says that the expression is, and missing
// where Go panics. A condition must be what Go says where that does not panic.
func TestRandomExpressions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package")
	}
	const (
		each  = 60 // expressions of a kind
		width = 120
	)
	r := &randomExpressions{rand.New(rand.NewPCG(*seed, 0))}
	parts, conditions := map[string]bool{}, map[string]bool{}
	dir := randomModule(t)
	for len(parts) < each || len(conditions) < each {
		for len(parts) < each {
			if text := r.part(4); len(text) < width {
				parts[text] = true
			}
		}
		for len(conditions) < each {
			if text := r.condition(4); len(text) < width {
				conditions[text] = true
			}
		}
		// Not all of them make sense to the type checker.
		for _, text := range generateRandom(t, dir, parts, conditions) {
			delete(parts, text)
			delete(conditions, text)
		}
	}
	cmd := exec.Command("go", "test", "-vet=off", "./...") // vet knows that x || x is redundant
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with -seed=%d: %v\n%s", *seed, err, out)
	}
}

// randomModule returns the folder of a module with the types and functions that random expressions mention.
func randomModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/ratelimitgen/ratelimitgen"
	write(t, filepath.Join(dir, "go.mod"), fmt.Appendf(nil, "module example.com/random\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", module, root))
	for from, to := range map[string]string{"../go.sum": "go.sum", "testdata/random/node.go.txt": "node.go"} {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, to), content)
	}
	// Reading the sources tells go test that a result it has cached depends on them.
	for path := range files(t, "../runtime") {
		t.Log("built with", path)
	}
	return dir
}

const (
	randomParams = "p, q *Node, h Holder, id string, n int, u8 uint8, i64 int64, ok bool"
	randomArgs   = "in.p, in.q, in.h, in.id, in.n, in.u8, in.i64, in.ok"
	randomNames  = "p, q, h, id, n, u8, i64, ok"
)

// generateRandom writes an interface that has the expressions, its decorator, and the test of that. It returns the
// expressions of which the generator says that they are mistakes.
func generateRandom(t *testing.T, dir string, parts, conditions map[string]bool) (mistaken []string) {
	t.Helper()
	var source, service, test strings.Builder
	at := map[int]string{} // expressions by their lines in the source
	source.WriteString("package random\n\ntype Random interface {\n")
	service.WriteString("package random\n\ntype service struct{}\n\n")
	test.WriteString(randomTestHead)
	lines := 3
	add := func(i int, text, directive, check string) {
		lines += 2
		at[lines-1] = text
		fmt.Fprintf(&source, "\t//ratelimit:count=1 time=1h %s\n\tM%d(%s) error\n", directive, i, randomParams)
		fmt.Fprintf(&service, "func (service) M%d(%s) error { return nil }\n\n", i, randomParams)
		fmt.Fprintf(&test, "\t\t{\n\t\t\twant, ok := try(func() any { return %s })\n\t\t\t%s(t, `%[1]s`, want, ok, func() error { return r.M%[3]d(%s) })\n\t\t}\n",
			text, check, i, randomArgs)
	}
	i := 0
	for _, text := range slices.Sorted(maps.Keys(parts)) {
		add(i, text, "key=`m{"+text+"}`", "checkPart")
		i++
	}
	for _, text := range slices.Sorted(maps.Keys(conditions)) {
		add(i, text, "skip={"+text+"} refund={"+text+"}", "checkCondition") // one in the way of the other's variables
		i++
	}
	source.WriteString("}\n")
	test.WriteString("\t}\n}\n")
	write(t, filepath.Join(dir, "random.go"), []byte(source.String()))
	write(t, filepath.Join(dir, "service.go"), []byte(service.String()))
	write(t, filepath.Join(dir, "random_test.go"), []byte(test.String()))

	pkgs, err := parse.Load(parse.Config{Dir: dir, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")})
	if err != nil {
		t.Fatal(err)
	}
	file := pkgs[0].Files[0]
	decorator, err := generate.File(file)
	var mistakes parse.Diagnostics
	if err != nil && !errors.As(err, &mistakes) {
		t.Fatal(err)
	}
	for _, mistake := range mistakes {
		mistaken = append(mistaken, at[mistake.Pos.Line])
	}
	write(t, parse.OutputPath(file.Path), decorator)
	return mistaken
}

const randomTestHead = `package random

import (
	"errors"
	"fmt"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// refusal makes a call until it is refused.
func refusal(t *testing.T, call func() error) (e *ratelimit.LimitError) {
	if err := errors.Join(call(), call()); !errors.As(err, &e) {
		t.Fatal(err)
	}
	return e
}

func checkPart(t *testing.T, text string, want any, ok bool, call func() error) {
	key := ""
	if ok {
		key = fmt.Sprint(want)
	}
	e := refusal(t, call)
	if got := e.Key; key == "" && e.Missing == "" || key != "" && got != "m"+key {
		t.Errorf("{%s} is %q, want %q", text, got, key)
	}
}

func checkCondition(t *testing.T, text string, want any, ok bool, call func() error) {
	got := call() == nil && call() == nil
	if ok && fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("{%s} is %t, want %t", text, got, want)
	}
}

func TestRandom(t *testing.T) {
	for range 100 {
		limiter, err := ratelimit.New(memlimit.New())
		if err != nil {
			t.Fatal(err)
		}
		r, in := NewRateLimitedRandom(service{}, limiter), newInput()
		` + randomNames + ` := ` + randomArgs + `
		_, _, _, _, _, _, _, _ = ` + randomNames + "\n"

// randomExpressions makes expressions over the parameters of a method, down to a depth.
type randomExpressions struct{ *rand.Rand }

// fill replaces each % of one of the forms by a smaller expression: %p a pointer, %s a string, %n an int, %i an index,
// %b a bool.
func (r *randomExpressions) fill(depth int, leaves, forms string) string {
	list := strings.Split(forms, " | ")
	if depth <= 0 {
		list = strings.Split(leaves, " | ")
	}
	form := list[r.IntN(len(list))]
	var text strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '%' || i+1 == len(form) {
			text.WriteByte(form[i])
			continue
		}
		i++
		switch form[i] {
		case 'p':
			text.WriteString(r.pointer(depth - 1))
		case 's':
			text.WriteString(r.text(depth - 1))
		case 'n':
			text.WriteString(r.number(depth - 1))
		case 'i':
			text.WriteString(r.index(depth - 1))
		case 'b':
			text.WriteString(r.condition(depth - 1))
		default:
			text.WriteString(form[i-1 : i+1])
		}
	}
	return text.String()
}

func (r *randomExpressions) part(depth int) string {
	depth = 1 + r.IntN(depth)
	if r.IntN(3) == 0 {
		return r.number(depth)
	}
	return r.text(depth)
}

func (r *randomExpressions) pointer(depth int) string {
	return r.fill(depth, "p | q", "p | q | %p.Next | %p.Make() | lookup(%s) | h.Nodes[%i] | %p.Map[%s] | (*h.Outer) | %p.Pick(%p) | "+
		"h.Array[%i] | %p.Kids[%i] | h.Nodes[%i:][%i]")
}

func (r *randomExpressions) text(depth int) string {
	return r.fill(depth, `id | "x"`, "id | %p.Name | %p.String() | %p.Tag | %s+%s | %s[%i:] | %s[:%i] | %s[%i:%i] | h.Inter.String() | "+
		"%p.Label() | string(%p.Kind) | h.Texts[%i] | nameOf(%p)")
}

func (r *randomExpressions) number(depth int) string {
	return r.fill(depth, "n | 1 | 2", "n | len(%s) | %p.N | (%n/%n) | (%n - %n) | %p.Num() | (1<<%n) | min(%n, 3) | int(i64) | h.Ints[%i] | "+
		"h.Func(%n) | -(%n) | len(%p.Kids)")
}

func (r *randomExpressions) index(depth int) string {
	return r.fill(depth, "0 | 1 | n | u8 | i64", "0 | 1 | 2 | 200 | n | u8 | i64 | %n")
}

func (r *randomExpressions) condition(depth int) string {
	return r.fill(r.IntN(depth+1), `ok | id == "x" | p == nil | p != nil | q != nil | len(id) > 0`,
		"%b && %b | %b || %b | (%b || %b) | !(%b) | !%p.Flag | %p.Flag | %p == nil | %p != nil | %s == %s | %n > %n | same(%b) | "+
			"len(%p.Kids) > 1 | (%b) == %p.Flag")
}
