package redislimit

import (
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// The memory for refused calls is bounded in bytes, not only in calls: callers choose how long their identities are.
func TestLargeCallsAreNotRemembered(t *testing.T) {
	charges := func(n, length int) []ratelimit.Charge {
		c := ratelimit.Charge{Key: []byte(strings.Repeat("k", length)), Name: "1m", Limit: ratelimit.Limit{Count: 1, Period: time.Minute}, Cost: 1}
		all := make([]ratelimit.Charge, n)
		for i := range all {
			all[i] = c
		}
		return all
	}
	for _, test := range []struct {
		charges, length int
		want            bool // whether it is remembered
	}{
		{1, 20, true},
		{3, 128, true},
		{1, 700, true},
		{1, 1024, false},
		{8, 20, false},
		{100, 20, false},
	} {
		if size := sizeOf(charges(test.charges, test.length)); (size <= largestDenied) != test.want {
			t.Errorf("%d charges of keys of %d bytes are %d bytes: want %v to be remembered", test.charges, test.length, size, test.want)
		}
	}
}
