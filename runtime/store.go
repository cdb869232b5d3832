package ratelimit

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"
)

// Never is the RetryAfter of a call that no wait can help: its cost is above the limit's capacity.
const Never time.Duration = math.MaxInt64

// Charge is one bucket and what a call wants of it.
type Charge struct {
	Key    []byte // identity of the bucket, already escaped; a Store neither changes nor keeps it
	Name   string // name of the limit; together with Key and Limit.Algorithm it names the bucket
	Limit  Limit
	Cost   int64  // units to take, or to give back; 0 takes nothing and only looks
	Holder string // id of the holder, for an algorithm that counts holders
}

// Result is a bucket's answer to one charge. All its durations are whole microseconds.
type Result struct {
	Allowed    bool          // whether this limit lets the call go on
	Limit      int64         // capacity: the most that could be taken at once
	Remaining  int64         // what could be taken now, after this call; never negative
	RetryAfter time.Duration // 0 if allowed; otherwise the least wait after which the same call would be, or [Never]
	ResetAfter time.Duration // until the bucket is as new
}

// A Store keeps buckets and decides charges against them. All methods are safe for concurrent use.
//
// The charges of one call name different buckets, and results is as long as charges: [CheckDecision] and [CheckCharges]
// test this and what else a Store may rely on, and each method returns their error before it does anything. A Store
// reads its clock once for all charges of a call. An error means that the Store cannot tell, never that a limit refused.
type Store interface {
	// Take charges every bucket, or none if one of them refuses, and fills results. When one refuses, nothing is
	// changed: the results of the others say whether they would have allowed the call, and where they stand.
	Take(ctx context.Context, charges []Charge, results []Result) error
	// Peek fills results with what Take would decide, and changes nothing. Remaining and ResetAfter tell of the bucket
	// as it stands, before the charge.
	Peek(ctx context.Context, charges []Charge, results []Result) error
	// Refund gives each charge's Cost back to its bucket. A bucket never holds more than its capacity by it, and a
	// bucket that is as new, or in a later window, stays as it is.
	Refund(ctx context.Context, charges []Charge) error
	// Reset makes each bucket as new.
	Reset(ctx context.Context, charges []Charge) error
}

// CheckDecision returns an error unless the charges pass [CheckCharges] and there is a result for each: what Take and
// Peek of every [Store] require of their caller.
func CheckDecision(charges []Charge, results []Result) error {
	if len(results) != len(charges) {
		return fmt.Errorf("ratelimit: %d charges and %d results: want one result a charge", len(charges), len(results))
	}
	return CheckCharges(charges)
}

// CheckCharges returns an error unless each charge has a valid limit and a cost of at least 0, and no two of them name
// the same bucket: what all methods of a [Store] require of their caller.
func CheckCharges(charges []Charge) error {
	for i := range charges {
		c := &charges[i]
		if err := c.Limit.Validate(); err != nil {
			return err
		}
		if c.Cost < 0 {
			return fmt.Errorf("ratelimit: Charge.Cost is %d: want at least 0", c.Cost)
		}
		for j := range i {
			if c.sameBucket(&charges[j]) {
				return fmt.Errorf("ratelimit: charges %d and %d name the same bucket %q %s", j, i, c.Key, c.Name)
			}
		}
	}
	return nil
}

func (c *Charge) sameBucket(d *Charge) bool {
	return c.Limit.Algorithm == d.Limit.Algorithm && c.Name == d.Name && bytes.Equal(c.Key, d.Key)
}
