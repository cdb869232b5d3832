package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// Where there is no interface to annotate, a limiter is asked by hand.
func ExampleLimiter_Allow() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 2, Period: time.Hour}
	for range 3 {
		result, err := limiter.Allow(context.Background(), "signup:ann", limit)
		fmt.Println(result.Allowed, result.Remaining, result.RetryAfter.Round(time.Minute), err)
	}
	// Output:
	// true 1 0s <nil>
	// true 0 0s <nil>
	// false 0 1h0m0s <nil>
}

// A Guard is what the decorator of a method asks. Each client IP has a bucket of its own.
func ExampleLimiter_Guard() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{
		Key:   "get:{@ip}",
		Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Hour},
	})
	for _, client := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.2"} {
		ctx := ratelimit.WithClientIP(context.Background(), netip.MustParseAddr(client))
		err := guard.Allow(ctx)
		var refused *ratelimit.LimitError
		if errors.As(err, &refused) {
			fmt.Println(client, errors.Is(err, ratelimit.ErrLimited), refused.Key, refused.RetryAfter().Round(time.Minute))
			continue
		}
		fmt.Println(client, err)
	}
	// Output:
	// 192.0.2.1 <nil>
	// 192.0.2.2 <nil>
	// 192.0.2.2 true get:192.0.2.2 1h0m0s
}

// A process that is called often takes units in advance, and gives back what is left at its end.
func ExampleLimiter_Close() {
	store := memlimit.New()
	limiter, err := ratelimit.New(store)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1000, Period: time.Hour}
	guard := limiter.Guard("feed.Service.Read", ratelimit.Rule{Key: "read", Name: "hourly", Limit: limit, Prefetch: 100})
	left := func() int64 {
		results := make([]ratelimit.Result, 1)
		charges := []ratelimit.Charge{{Key: []byte("read"), Name: "hourly", Limit: limit}}
		if err := store.Peek(context.Background(), charges, results); err != nil {
			fmt.Println(err)
		}
		return results[0].Remaining
	}
	for range 3 {
		if err := guard.Allow(context.Background()); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(left(), "are left to other processes")
	if err := limiter.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(left(), "are left when this one is done")
	// Output:
	// 900 are left to other processes
	// 997 are left when this one is done
}

// A log has a refusal once per key and period.
func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "retry_after" { // or the example would say something else each time
			return slog.Attr{}
		}
		return a
	}}))
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe(ratelimit.Log(logger)))
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{Key: "get:{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
	for range 100 {
		_ = guard.Allow(ratelimit.WithCaller(context.Background(), "user", "ann"))
	}
	// Output:
	// level=INFO msg="rate limit exceeded" method=users.Service.Get limit=1h key=get:ann
}

// refusalsByLimit counts, as a collector of metrics does.
type refusalsByLimit map[string]int

func (c refusalsByLimit) Observe(_ context.Context, e *ratelimit.Event) {
	for _, o := range e.Outcomes {
		if e.Kind == ratelimit.EventDecision && !o.Result.Allowed {
			c[ratelimit.LimitID(e.Method, o.Name)]++
		}
	}
}

// An Observer is told what each limit has answered to each call.
func ExampleObserve() {
	refusals := refusalsByLimit{}
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe(refusals))
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{Key: "get", Limit: ratelimit.Limit{Count: 2, Period: time.Hour}})
	for range 5 {
		_ = guard.Allow(context.Background())
	}
	fmt.Println(refusals)
	// Output:
	// map[users.Service.Get#1h:3]
}

// A new limit is tried on the real traffic before it refuses anybody.
func ExampleWithMode() {
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.WithMode(ratelimit.ModeShadow))
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{Key: "get", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
	for range 3 {
		fmt.Println(guard.Allow(context.Background()))
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
}
