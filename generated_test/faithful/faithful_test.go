package faithful

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

// echo returns its arguments, and the error fails.
type echo struct {
	fails error
	calls int
}

func (e *echo) Values(n int, text string, bytes []byte, set map[string]bool, point *Point, pair [2]int8, v any) (int, string, []byte, map[string]bool, *Point, [2]int8, any, error) {
	return n, text, bytes, set, point, pair, v, e.fails
}

func (e *echo) Variadic(prefix string, rest ...int) (string, []int, error) {
	return prefix, rest, e.fails
}

func (e *echo) Interfaces(ctx context.Context, err error, vs ...any) (context.Context, []any, error) {
	return ctx, vs, err
}

func (e *echo) Functions(f func(int) int, c <-chan int) (func(int) int, <-chan int, error) {
	return f, c, e.fails
}

func (e *echo) Named(a, b int, _ string) (sum, product int, err error) { return a + b, a * b, e.fails }

func (e *echo) Panics(v any) error { panic(v) }

func (e *echo) Nothing() { e.calls++ }

func (e *echo) Len(values ...string) int { return len(values) }

// TestDecoratorsChangeNothing calls random methods with random arguments through decorators and without.
func TestDecoratorsChangeNothing(t *testing.T) {
	limiter := limittest.Limiter(t)
	rapid.Check(t, func(t *rapid.T) {
		next := &echo{}
		if rapid.Bool().Draw(t, "fails") {
			next.fails = errors.New("fails")
		}
		method := rapid.IntRange(0, reflect.TypeFor[Everything]().NumMethod()-1).Draw(t, "method")
		args := arguments(t, reflect.TypeFor[Everything]().Method(method).Type)
		want := call(next, method, args)
		for _, decorated := range []Everything{NewRateLimitedPlain(next, limiter), NewRateLimitedElaborate(next, limiter)} {
			if got := call(decorated, method, args); !same(got, want) {
				t.Errorf("%T.%s%v: got %v, want %v", decorated, reflect.TypeFor[Everything]().Method(method).Name, args, got, want)
			}
		}
		if next.calls != 0 && next.calls != 3 {
			t.Errorf("got %d calls, want 3", next.calls)
		}
	})
}

// arguments draws arguments for a function; those of a variadic one end with a slice.
func arguments(t *rapid.T, f reflect.Type) []reflect.Value {
	label, c := "label", make(chan int)
	n := rapid.IntRange(-5, 5).Draw(t, "n")
	choices := map[reflect.Type][]any{
		reflect.TypeFor[int]():             {n, 0, -1 << 63},
		reflect.TypeFor[string]():          {"", "a", "{}%:\x00\xff"},
		reflect.TypeFor[[]byte]():          {[]byte(nil), []byte{}, []byte("bytes")},
		reflect.TypeFor[map[string]bool](): {map[string]bool(nil), map[string]bool{"a": true}},
		reflect.TypeFor[*Point]():          {(*Point)(nil), &Point{n, 2, &label}},
		reflect.TypeFor[[2]int8]():         {[2]int8{1, -1}},
		reflect.TypeFor[any]():             {nil, n, "text", &label, []int{1}, (*Point)(nil)},
		reflect.TypeFor[error]():           {nil, errors.New("argument"), context.Canceled},
		reflect.TypeFor[context.Context](): {t.Context(), context.WithValue(t.Context(), key{}, n)},
		reflect.TypeFor[func(int) int]():   {(func(int) int)(nil), func(i int) int { return i + n }},
		reflect.TypeFor[<-chan int]():      {(<-chan int)(nil), (<-chan int)(c)},
		reflect.TypeFor[[]int]():           {[]int(nil), []int{}, []int{1, n}},
		reflect.TypeFor[[]any]():           {[]any(nil), []any{}, []any{nil, n, []any{}}},
		reflect.TypeFor[[]string]():        {[]string(nil), []string{}, []string{"a", "b"}},
	}
	var args []reflect.Value
	for param := range f.Ins() {
		arg := reflect.New(param).Elem()
		if v := rapid.SampledFrom(choices[param]).Draw(t, param.String()); v != nil {
			arg.Set(reflect.ValueOf(v))
		}
		args = append(args, arg)
	}
	return args
}

type key struct{}

// outcome is what comes of a call.
type outcome struct {
	results  []any
	panicked any
}

func call(e Everything, method int, args []reflect.Value) (o outcome) {
	defer func() { o.panicked = recover() }()
	m := reflect.ValueOf(e).MethodByName(reflect.TypeFor[Everything]().Method(method).Name)
	do := m.Call
	if m.Type().IsVariadic() {
		do = m.CallSlice
	}
	for _, result := range do(args) {
		o.results = append(o.results, result.Interface())
	}
	return o
}

// same reports whether two calls had the same outcome: equal values, and the very same functions and elements of slices.
func same(a, b outcome) bool {
	if a.panicked != nil || b.panicked != nil {
		return reflect.DeepEqual(a.panicked, b.panicked)
	}
	for i, v := range a.results {
		x, y := reflect.ValueOf(v), reflect.ValueOf(b.results[i])
		switch x.Kind() {
		case reflect.Func, reflect.Slice, reflect.Map, reflect.Pointer:
			if x.Pointer() != y.Pointer() || x.IsNil() != y.IsNil() || x.Kind() == reflect.Slice && x.Len() != y.Len() {
				return false
			}
		default:
			if v != b.results[i] {
				return false
			}
		}
	}
	return true
}
