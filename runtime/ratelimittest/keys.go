package ratelimittest

import (
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// R46
func ownBuckets(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	limit := tokens(1, time.Hour)
	charges := []ratelimit.Charge{
		{Key: []byte("a:bc"), Name: "x", Limit: limit},
		{Key: []byte("ab:c"), Name: "x", Limit: limit},
		{Key: []byte("a:bc"), Name: "y", Limit: limit},
		{Key: []byte("a:bc"), Name: "x", Limit: window(1, time.Hour)},
		{Key: []byte("a:bc"), Name: "x", Limit: record(1, time.Hour)},
		{Key: []byte("a:bc"), Name: "x", Limit: leak(1, time.Hour, 0)},
		{Key: []byte("a:bc"), Name: "x", Limit: slots(1, time.Hour), Holder: "holder"},
		{Key: []byte("a:bcx"), Name: "", Limit: limit},
		{Key: []byte("a:bc"), Name: "xx", Limit: limit},
		{Key: []byte("xa:bc"), Name: "x", Limit: limit},
		{Key: nil, Name: "x", Limit: limit},
		{Key: nil, Name: "", Limit: limit},
	}
	for i, c := range charges {
		c.Cost = 1
		expect(t, store, "take", c, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		for _, other := range charges[i+1:] {
			expect(t, store, "peek", other, ratelimit.Result{Allowed: true, Limit: 1, Remaining: 1})
		}
	}
}

func anyKey(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	long := strings.Repeat("k", 1<<16)
	keys := []string{"", " ", "\x00", "\x00\x00", "\r\n", "\n*1\r\n", "\xff\xfe", "é", "%", "{", "}", "{}", "}{", "\"", "'", "]]", long, long + "k"}
	for i, key := range keys {
		expect(t, store, "take", charge(key, tokens(1, time.Hour), 1), ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		for _, other := range keys[i+1:] {
			expect(t, store, "peek", charge(other, tokens(1, time.Hour), 1), ratelimit.Result{Allowed: true, Limit: 1, Remaining: 1})
		}
	}
}

func keyOfCaller(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	c := charge("a", window(1, time.Hour), 1)
	full := ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour}
	expect(t, store, "take", c, full)
	if string(c.Key) != "a" {
		t.Fatalf("the key has become %q", c.Key)
	}
	c.Key[0] = 'b'
	expect(t, store, "take", c, full)
	c.Key[0] = 'a'
	expect(t, store, "peek", c, ratelimit.Result{Limit: 1, RetryAfter: time.Hour, ResetAfter: time.Hour})
}
