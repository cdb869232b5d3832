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
