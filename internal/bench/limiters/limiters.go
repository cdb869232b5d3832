// Package limiters holds what is compared: this module's stores and decorators, those of others, and the floors, which
// decide less than a limiter does, or nothing at all. All are asked in the same way.
package limiters

import (
	"context"
	"testing"
	"time"
)

// A Limiter decides calls.
type Limiter interface {
	// Worker returns what one goroutine asks. It may keep what a caller would keep from one call to the next.
	Worker() Ask
}

// Ask decides a call for the key of that number. An Ask that keeps nothing from one call to the next is a [Limiter] itself.
type Ask func(ctx context.Context, key int) (allowed bool, err error)

// Worker implements [Limiter].
func (a Ask) Worker() Ask { return a }

// A Counter is a [Limiter] that can tell what it has admitted.
type Counter interface {
	Limiter
	// Used returns how many units are taken of the bucket of the first key.
	Used(ctx context.Context) (int64, error)
}

// A Holder is a [Limiter] that can tell how many buckets it holds.
type Holder interface {
	Limiter
	Held() int
}

// Maker makes a limiter, which ends with t.
type Maker func(t testing.TB, s Setting) Limiter

// Setting is what a limiter is made for: calls for the Keys, each of which has the Quota.
type Setting struct {
	Keys  *Keys
	Quota Quota
	Redis []string // addresses: of none, one server, or the masters of a Cluster
}

// Quota is a limit that each of the limiters can have.
type Quota struct {
	Count  int64 // per Period
	Period time.Duration
	Burst  int64 // of buckets the capacity; it is what window counters, which have none, admit per Period
}

// A bucket may take up to 100 years to fill.
var (
	// Plenty is a quota that no load uses up.
	Plenty = Quota{Count: 360, Period: time.Hour, Burst: 300_000_000}
	// Lasting is a quota that no load on many keys uses up, and whose buckets are kept for a day.
	Lasting = Quota{Count: 1, Period: 24 * time.Hour, Burst: 30_000}
	// Scarce is a quota that admits one call for the time of a benchmark.
	Scarce = Quota{Count: 1, Period: 24 * time.Hour, Burst: 1}
)

// Fleeting is a quota of one call whose bucket is as new after a while.
func Fleeting(d time.Duration) Quota { return Quota{Count: 1, Period: d, Burst: 1} }
