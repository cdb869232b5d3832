// Package fallbacks has limits beyond which something else is called.
package fallbacks

import (
	"context"
	"net/http"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type Item struct{ From string }

type Items interface {
	//ratelimit:count=1 time=1h fallback=cached
	Function(ctx context.Context, id string) (*Item, error)
	//ratelimit:count=1 time=1h fallback=cachedFor status=503 message=later
	Told(ctx context.Context, id string) (*Item, error)
	//ratelimit:count=1 time=1h fallback=Stale
	Method(ctx context.Context, id string) (*Item, error)
	// Stale has a limit of its own, which does not hold where it stands in for another method.
	//
	//ratelimit:count=1 time=1h
	Stale(ctx context.Context, id string) (*Item, error)
	//ratelimit:count=1 time=1h fallback=allCached
	Variadic(ctx context.Context, ids ...string) ([]*Item, error)
	//ratelimit:count=1 time=1h fallback=allCachedFor
	VariadicTold(ctx context.Context, ids ...string) ([]*Item, error)
	// Several has more than one limit, all with the same fallback.
	//
	//ratelimit:count=1 time=1h fallback=cached
	//ratelimit:key=item:{id} count=5 time=24h fallback=cached
	Several(ctx context.Context, id string) (*Item, error)
	//ratelimit:count=1 time=1h fallback=cached refund={err != nil}
	Refunded(ctx context.Context, id string) (*Item, error)
	//ratelimit:count=1 algorithm=concurrency fallback=Stale
	Slot(ctx context.Context, id string) (*Item, error)
	//ratelimit:count=1 time=1h fallback=note
	OnlyError(ctx context.Context) error
}

// Counters have no errors: their fallbacks are called for all that is not passed on.
type Counters interface {
	//ratelimit:count=1 time=1h fallback=guess
	Count(ctx context.Context) int
	//ratelimit:count=1 time=1h fallback=guessFor
	CountTold(ctx context.Context) int
	//ratelimit:count=1 time=1h fallback=drop
	Add(n int)
	//ratelimit:count=1 time=1h fallback=dropFor
	AddTold(n int)
	//ratelimit:count=1 algorithm=concurrency fallback=wait
	Wait(d time.Duration) (waited bool, left time.Duration)
	//ratelimit:count=1 time=1h fallback=drop
	//ratelimit:count=5 time=24h fallback=drop
	Both(n int)
}

type Pages interface {
	//ratelimit:count=1 time=1h fallback=busy
	Home(w http.ResponseWriter, r *http.Request)
	//ratelimit:count=1 time=1h fallback=busyFor
	API(w http.ResponseWriter, r *http.Request) error
	//ratelimit:count=1 time=1h
	Plain(w http.ResponseWriter, r *http.Request)
}

func cached(_ context.Context, id string) (*Item, error) { return &Item{"cache:" + id}, nil }

func cachedFor(_ context.Context, id string, e *ratelimit.LimitError) (*Item, error) {
	return &Item{"cache:" + id + ":" + e.Name}, nil
}

func allCached(_ context.Context, ids ...string) ([]*Item, error) {
	return make([]*Item, len(ids)), nil
}

// allCachedFor has a slice, since only a last parameter is variadic.
func allCachedFor(_ context.Context, ids []string, e *ratelimit.LimitError) ([]*Item, error) {
	return []*Item{{ids[len(ids)-1] + ":" + e.Name}}, nil
}

func note(context.Context) error { return nil }

func guess(context.Context) int { return -1 }

func guessFor(_ context.Context, e *ratelimit.LimitError) int {
	if e == nil {
		return -2
	}
	return -1
}

var dropped []int

func drop(n int) { dropped = append(dropped, n) }

func dropFor(n int, e *ratelimit.LimitError) {
	if e == nil {
		n = -n
	}
	drop(n)
}

func wait(d time.Duration) (bool, time.Duration) { return false, d }

func busy(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

func busyFor(w http.ResponseWriter, r *http.Request, e *ratelimit.LimitError) error {
	busy(w, r)
	return e
}
