package overrides_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/overrides"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "limits.yaml")
	file := `
limits:
  users.Service.Get#1s:
    count: 2
    callers:
      - by: {user: ann}
        count: 3
`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe())
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer limiter.Close(ctx)
	if err := limiter.Watch(ctx, overrides.File(path)); err != nil {
		fmt.Println(err)
		return
	}

	// As a decorator has it, by //ratelimit:count=1 by=user.
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{
		Key: "users.Service.Get:{@user}", Name: "1s", Limit: ratelimit.Limit{Count: 1, Period: time.Hour},
	})
	for _, user := range []string{"ann", "bob"} {
		ctx := ratelimit.WithCaller(ctx, "user", user)
		calls := 0
		for guard.Allow(ctx) == nil {
			calls++
		}
		fmt.Printf("%s: %d calls\n", user, calls)
	}
	// Output:
	// ann: 3 calls
	// bob: 2 calls
}
