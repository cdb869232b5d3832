package ratelimit_test

import (
	"context"
	"fmt"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

type planKey struct{}

func ExampleOverrideBy() {
	premium := func(ctx context.Context, limit string) (ratelimit.Override, bool) {
		if plan, _ := ctx.Value(planKey{}).(string); plan == "premium" && limit == "users.Service.Get#1s" {
			return ratelimit.Override{Count: 5}, true
		}
		return ratelimit.Override{}, false
	}
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.OverrideBy(premium))
	if err != nil {
		fmt.Println(err)
		return
	}

	// As a decorator has it, by //ratelimit:count=2 by=user.
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{
		Key: "users.Service.Get:{@user}", Name: "1s", Limit: ratelimit.Limit{Count: 2, Period: time.Hour},
	})
	for user, plan := range map[string]string{"ann": "premium", "bob": "free"} {
		ctx := context.WithValue(ratelimit.WithCaller(context.Background(), "user", user), planKey{}, plan)
		calls := 0
		for guard.Allow(ctx) == nil {
			calls++
		}
		fmt.Printf("%s: %d calls\n", user, calls)
	}
	// Unordered output:
	// ann: 5 calls
	// bob: 2 calls
}

func ExampleNewOverrides() {
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe())
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	store := ratelimit.NewOverrides()
	if err := limiter.Watch(ctx, store); err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{
		Key: "users.Service.Get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Hour},
	})
	fmt.Println(guard.Allow(ctx), guard.Allow(ctx) != nil)
	fmt.Println(store.Set(ctx, "users.Service.Get#1s", &ratelimit.Override{Count: 2}))
	fmt.Println(guard.Allow(ctx), guard.Allow(ctx) != nil)
	fmt.Println(store.Set(ctx, "users.Service.Get#1s", &ratelimit.Override{Burst: 5}))
	// Output:
	// <nil> true
	// <nil>
	// <nil> true
	// ratelimit: override of users.Service.Get#1s: burst is 5: fixed-window has no burst
}
