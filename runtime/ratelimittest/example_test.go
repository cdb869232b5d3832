package ratelimittest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

// The guard is what a generated decorator asks before each call of a method.
func ExampleStore() {
	var store ratelimittest.Store
	limiter, err := ratelimit.New(&store, ratelimit.OnFailure(ratelimit.FailClosed))
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{
		Key: "users.Service.Get", Name: "1s", Limit: ratelimit.Limit{Count: 5, Period: time.Second},
	})
	ctx := context.Background()

	fmt.Println(guard.Allow(ctx))

	store.Refuse(time.Minute, ratelimittest.Bucket{Key: "users.Service.Get"})
	var limited *ratelimit.LimitError
	if err := guard.Allow(ctx); errors.As(err, &limited) {
		fmt.Println(limited.Method, limited.RetryAfter())
	}

	store.Fail(errors.New("connection refused"))
	fmt.Println(errors.Is(guard.Allow(ctx), ratelimit.ErrLimited))

	store.Allow()
	fmt.Println(guard.Allow(ctx), len(store.Asked()))
	// Output:
	// <nil>
	// users.Service.Get 1m0s
	// false
	// <nil> 4
}
