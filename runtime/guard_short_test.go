package ratelimit_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// Calls with nothing but the parts of a key go a shorter way than those with a condition. Both end alike.
func TestShortWayEndsAsTheLongOne(t *testing.T) {
	v4 := netip.MustParseAddr("203.0.113.7")
	longest := netip.MustParseAddr("2001:1db8:1111:2222:3333:4444:5555:6666")
	known := func(addr netip.Addr) context.Context { return ratelimit.WithClientIP(t.Context(), addr) }
	ended, cancel := context.WithCancel(known(v4))
	cancel()
	tests := []struct {
		name    string
		ctx     context.Context
		key     string
		onEmpty ratelimit.Empty
		fail    error // of the store
		call    []ratelimit.Arg
	}{
		{name: "no parts", key: "get"},
		{name: "an IPv4 address", ctx: known(v4), key: "get:{@ip}"},
		{name: "the longest address", ctx: known(longest), key: "get:{@ip}"},
		{name: "no address", key: "get:{@ip}"},
		{name: "no address, shared", key: "get:{@ip}", onEmpty: ratelimit.EmptyShare},
		{name: "no address, uncounted", key: "get:{@ip}", onEmpty: ratelimit.EmptyAllow},
		{name: "an address by hand", ctx: ratelimit.WithCaller(t.Context(), "ip", "a b"), key: "get:{@ip}"},
		{name: "a part of the call", key: "get:{id}", call: []ratelimit.Arg{ratelimit.String("a:b")}},
		{name: "an empty part", key: "get:{id}", call: []ratelimit.Arg{ratelimit.String("")}},
		{name: "a cost in place of a part", key: "get:{id}", call: []ratelimit.Arg{ratelimit.Cost("1s", 1)}},
		{name: "a call that has ended", ctx: ended, key: "get:{@ip}"},
		{name: "a store that fails", ctx: known(v4), key: "get:{@ip}", fail: errDown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				way := func(call ...ratelimit.Arg) []string {
					var told []string
					look := observe(func(_ context.Context, e *ratelimit.Event) {
						line := fmt.Sprint(e.Kind, e.Method, e.Local, e.Failure, e.Err, e.Outcomes)
						for i := range e.Outcomes {
							line += fmt.Sprintf(" %q", e.Key(i))
						}
						told = append(told, line)
					})
					var store ratelimit.Store = memlimit.New()
					if test.fail != nil {
						store = &script{err: test.fail}
					}
					guard := newLimiter(t, store, ratelimit.Observe(look)).Guard("m", ratelimit.Rule{
						Key: test.key, OnEmpty: test.onEmpty, Fail: ratelimit.FailOpen,
						Limit: ratelimit.Limit{Count: 1, Period: time.Second},
					})
					ctx := test.ctx
					if ctx == nil {
						ctx = context.Background()
					}
					for range 2 {
						told = append(told, fmt.Sprint(guard.Allow(ctx, call...)))
					}
					return told
				}
				short := way(test.call...)
				long := way(append(slices.Clone(test.call), ratelimit.SkipIf("other", false))...)
				if !slices.Equal(short, long) {
					t.Errorf("the short way:\n%q\nthe long one:\n%q", short, long)
				}
			})
		})
	}
}
