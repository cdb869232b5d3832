// Package fallbacknames has fallbacks that are called like something else.
package fallbacknames

import (
	"context"

	"github.com/ratelimitgen/ratelimitgen/generated_test/fallbacknames/base"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Names has fallbacks and parameters that are called like each other, like what a body calls its variables, and like the
// packages that it needs.
type Names interface {
	//ratelimit:count=1 time=1h fallback=name
	Name(ctx context.Context, name string) (string, error)
	//ratelimit:count=1 time=1h fallback=err
	Err(err, limitErr, ok string) (string, error)
	//ratelimit:count=1 time=1h fallback=limitErr
	Limited(errors, ratelimit string) (string, error)
	//ratelimit:count=1 algorithm=concurrency fallback=call
	Call(call string) (string, error)
	//ratelimit:count=1 time=1h fallback=n
	Receiver(n string) (string, error)
	//ratelimit:count=1 time=1h fallback=next
	Next(next, guard string) (string, error)
	//ratelimit:count=1 time=1h fallback=len
	Predeclared(len string) (string, error)
	//ratelimit:count=1 time=1h fallback=Plain
	Unnamed(string, string) (string, error)
	Plain(string, string) (string, error)
	//ratelimit:count=1 time=1h fallback=results
	Results(string) (err string, limitErr error)
	//ratelimit:count=1 time=1h fallback=errorless
	Errorless(errors, ratelimit string) string
	//ratelimit:count=1 time=1h fallback=zeroes
	Zeroes(Item string) (Item, int, error)
}

type Item struct{ From string }

// Service has methods that another package brings, and their directives.
type Service interface {
	base.Base
	//ratelimit:count=1 time=1h fallback=GetStale
	Own(ctx context.Context) (*base.Result, error)
}

//ratelimit:count=1 time=1h fallback=Stale methods=Get*
type Default interface {
	GetOne(ctx context.Context) (*base.Result, error)
	GetOther(ctx context.Context) (*base.Result, error)
	Stale(ctx context.Context) (*base.Result, error)
}

func name(_ context.Context, name string) (string, error) { return "name:" + name, nil }

func err(a, b, c string, e *ratelimit.LimitError) (string, error) {
	return "err:" + a + b + c + ":" + e.Name, nil
}

func limitErr(a, b string, e *ratelimit.LimitError) (string, error) {
	return "limited:" + a + b + ":" + e.Name, nil
}

func call(a string) (string, error) { return "call:" + a, nil }

func n(a string, _ *ratelimit.LimitError) (string, error) { return "n:" + a, nil }

func next(a, b string) (string, error) { return "next:" + a + b, nil }

func len(a string) (string, error) { return "len:" + a, nil }

func results(a string) (string, error) { return "results:" + a, nil }

func errorless(a, b string, _ *ratelimit.LimitError) string { return "errorless:" + a + b }

func zeroes(a string) (Item, int, error) { return Item{"zeroes:" + a}, 1, nil }
