package fallbacknames

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/fallbacknames/base"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type names struct{}

func (names) Name(context.Context, string) (string, error) { return "service", nil }
func (names) Err(string, string, string) (string, error)   { return "service", nil }
func (names) Limited(string, string) (string, error)       { return "service", nil }
func (names) Receiver(string) (string, error)              { return "service", nil }
func (names) Next(string, string) (string, error)          { return "service", nil }
func (names) Predeclared(string) (string, error)           { return "service", nil }
func (names) Unnamed(string, string) (string, error)       { return "service", nil }
func (names) Plain(a, b string) (string, error)            { return "plain:" + a + b, nil }
func (names) Results(string) (string, error)               { return "service", nil }
func (names) Errorless(string, string) string              { return "service" }
func (names) Zeroes(string) (Item, int, error)             { return Item{"service"}, 0, nil }
func (names) Call(again string) (string, error)            { return inner(again) }

// inner is called while the slot is taken.
var inner func(string) (string, error)

func TestNames(t *testing.T) {
	ctx := t.Context()
	n := NewRateLimitedNames(names{}, limittest.Limiter(t))
	inner = n.Call
	for _, test := range []struct {
		call func() (string, error)
		want string // of the second call
	}{
		{func() (string, error) { return n.Name(ctx, "a") }, "name:a"},
		{func() (string, error) { return n.Err("a", "b", "c") }, "err:abc:1h"},
		{func() (string, error) { return n.Limited("a", "b") }, "limited:ab:1h"},
		{func() (string, error) { return n.Call("a") }, "call:a"},
		{func() (string, error) { return n.Receiver("a") }, "n:a"},
		{func() (string, error) { return n.Next("a", "b") }, "next:ab"},
		{func() (string, error) { return n.Predeclared("a") }, "len:a"},
		{func() (string, error) { return n.Unnamed("a", "b") }, "plain:ab"},
		{func() (string, error) { return n.Results("a") }, "results:a"},
		{func() (string, error) { return n.Errorless("a", "b"), nil }, "errorless:ab"},
		{func() (string, error) { item, _, err := n.Zeroes("a"); return item.From, err }, "zeroes:a"},
	} {
		first, _ := test.call()
		if got, err := test.call(); got != test.want || err != nil || first != "service" && first != test.want {
			t.Errorf("got %q, then %q and %v, want the service and then %q", first, got, err, test.want)
		}
	}
}

// service brings the method that is private to another package.
type service struct{ base.Service }

func (service) Own(context.Context) (*base.Result, error) { return &base.Result{From: "own"}, nil }

func TestFallbacksOfAnotherPackage(t *testing.T) {
	s := NewRateLimitedService(service{}, limittest.Limiter(t))
	b := base.NewRateLimitedBase(base.Service{}, limittest.Limiter(t))
	for _, test := range []struct {
		call        func(context.Context) (*base.Result, error)
		first, then string
	}{
		{s.Get, "service", "base:1h"},
		{s.GetFresh, "fresh", "stale"},
		{s.Own, "own", "stale"},
		{b.Get, "service", "base:1h"},
		{b.GetFresh, "fresh", "stale"},
	} {
		for _, want := range []string{test.first, test.then} {
			if got, err := test.call(t.Context()); err != nil || got.From != want {
				t.Errorf("got %v and %v, want %q", got, err, want)
			}
		}
	}
}

type defaults struct{}

func (defaults) GetOne(context.Context) (*base.Result, error) { return &base.Result{From: "one"}, nil }

func (defaults) GetOther(context.Context) (*base.Result, error) {
	return &base.Result{From: "other"}, nil
}

func (defaults) Stale(context.Context) (*base.Result, error) { return &base.Result{From: "stale"}, nil }

func TestFallbackOfDefault(t *testing.T) {
	d := NewRateLimitedDefault(defaults{}, limittest.Limiter(t))
	for _, want := range []string{"one", "stale"} {
		if got, err := d.GetOne(t.Context()); err != nil || got.From != want {
			t.Errorf("got %v and %v, want %q", got, err, want)
		}
	}
	if got, err := d.GetOther(t.Context()); err != nil || got.From != "other" {
		t.Errorf("got %v and %v from a method with a bucket of its own", got, err)
	}
}
