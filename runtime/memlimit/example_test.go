package memlimit_test

import (
	"context"
	"fmt"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func ExampleNew() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		result, err := limiter.Allow(context.Background(), "signup", ratelimit.Limit{Count: 2, Period: time.Minute})
		fmt.Println(result.Allowed, result.Remaining, err)
	}
	// Output:
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}

func ExampleMaxKeys() {
	store := memlimit.New(memlimit.MaxKeys(1000))
	limiter, err := ratelimit.New(store)
	if err != nil {
		fmt.Println(err)
		return
	}
	allow := func(key string) ratelimit.Result {
		result, err := limiter.Allow(context.Background(), key, ratelimit.Limit{Count: 2, Period: time.Hour})
		if err != nil {
			fmt.Println(err)
		}
		return result
	}
	allow("alice")
	allow("alice") // and so has nothing left
	for i := range 5000 {
		allow(fmt.Sprint("made up ", i))
	}
	fmt.Println(store.Len(), "buckets,", store.Evicted(), "forgotten")
	fmt.Println("alice allowed:", allow("alice").Allowed)
	// Output:
	// 1000 buckets, 4001 forgotten
	// alice allowed: false
}
