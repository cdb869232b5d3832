package ratelimit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Never is the RetryAfter of a call that no wait can help: its cost is above the limit's capacity.
const Never time.Duration = math.MaxInt64

// Charge is one bucket and what a call wants of it.
type Charge struct {
	Key   []byte // identity of the bucket, already escaped; a Store neither changes nor keeps it
	Name  string // name of the limit; together with Key and Limit.Algorithm it names the bucket
	Limit Limit
	Cost  int64 // units to take, or to give back; 0 takes nothing and only looks; of Concurrency slots, 1000 at most

	// Wait is the longest that the caller would wait for its turn, in whole microseconds; 0 is not at all. It is for a
	// [TokenBucket] or [LeakyBucket], which is then charged in advance by up to what comes back to it in that time. All
	// charges of a token bucket should have the same Wait: one with a shorter Wait takes debt beyond its own for a capacity
	// that was lowered, and may go before those who wait.
	Wait time.Duration
	// Taken is for Refund: the [Result.At] of the Take whose units are given back, so that nothing is given back to a
	// later window, or in place of what was taken since; 0 is just now. A [TokenBucket] and a [LeakyBucket] do without.
	Taken time.Duration
	// Delay is for Refund: what is left of the [Result.Delay] of a call that gives up waiting. Those behind it keep their
	// turns, so that what comes back is only what nobody is waiting behind.
	Delay time.Duration

	// Fresh has a Take asked of the Store itself, by one that otherwise answers from what it remembers of refusals, and its
	// answer not remembered. It is for buckets to which units may come back before their time by somebody else's Refund,
	// and should then be set on all charges of them.
	Fresh bool

	// Holder is the id of the holder, for [Concurrency]: 1 to 128 printable ASCII characters without spaces, which
	// nobody else can guess.
	Holder string

	// prefetch is for the Limiter itself, see [Rule.Prefetch]: its stock takes up to so many units at once.
	prefetch int64
	// elsewhere is how many units may lie in other processes, and come back early; 0 if that is not known, or is all there is,
	// or if units come back early by calls that wait or have ended, too.
	elsewhere int64
}

// Result is a bucket's answer to one charge. All its durations are whole microseconds.
type Result struct {
	Allowed    bool          // whether this limit lets the call go on
	Limit      int64         // capacity: the most that could be taken at once
	Remaining  int64         // what could be taken now, after this call; never negative
	RetryAfter time.Duration // 0 if allowed; otherwise the least wait after which the same call would be if nobody else called, or [Never]
	ResetAfter time.Duration // until the bucket is as new
	Delay      time.Duration // of an allowed call, how long it has to wait for its turn; at most Charge.Wait
	At         time.Duration // when it was decided, by the store's clock: the time since 1970, in UTC
}

// A Store keeps buckets and decides charges against them. All methods are safe for concurrent use.
//
// The charges of one call name different buckets, and results is as long as charges: [CheckDecision], [CheckCharges] and
// [CheckHolders] test this and what else a Store may rely on, and each method returns their error before it does
// anything. A Store reads its clock once for all charges of a call. An error means that the Store cannot tell, never that
// a limit refused; that of a context which is not the caller's, as of a timeout of its own, the caller is not given as such, see
// [DecisionError]. It may have a method Away() bool, to say that nothing was asked of a server that is known to be away:
// so [Log] does not write of an outage call by call, and no slots are given back that were never taken. And it may have a method
// WatchOutages(report func(server string, away bool, err error)) (stop func()) that has report called, until stop is, when the
// store or a server of it is not asked any more, and why, and when it is again: so Observers are told.
type Store interface {
	// Take charges every bucket, or none if one of them refuses, and fills results. When one refuses, nothing is
	// changed: the results of the others say whether they would have allowed the call, and where they stand. A holder
	// that takes what it holds already takes nothing more, and starts its lease anew.
	Take(ctx context.Context, charges []Charge, results []Result) error
	// Peek fills results with what Take would decide, and changes nothing. Remaining and ResetAfter tell of the bucket
	// as it stands, before the charge. A charge needs no Holder.
	Peek(ctx context.Context, charges []Charge, results []Result) error
	// Refund gives each charge's Cost back to its bucket. A bucket never holds more than its capacity by it, and a
	// bucket that is as new, or in a later window than that of Charge.Taken, stays as it is. Of a [SlidingLog] the newest
	// units come back if they are those that were taken then, and otherwise the oldest, so that no span ever holds more
	// than it should. Of [Concurrency] it releases what the Holder holds. The error matches [ErrLeaseLost] if a Holder
	// holds nothing any more; the other charges are given back all the same.
	Refund(ctx context.Context, charges []Charge) error
	// Reset makes each bucket as new.
	Reset(ctx context.Context, charges []Charge) error
}

// A Renewer is a [Store] that prolongs leases. Without it, a call that lasts longer than its lease loses its slot.
type Renewer interface {
	// Renew starts the lease of each charge's Holder anew, independently of each other, and sets held to whether it was
	// still held: one that has ended stays lost. Its error is that of [CheckRenewal], or says that the Store cannot tell of
	// all of them: what held then says is true is.
	Renew(ctx context.Context, charges []Charge, held []bool) error
}

// CheckDecision returns an error unless the charges pass [CheckCharges] and there is a result for each: what Take and
// Peek of every [Store] require of their caller.
func CheckDecision(charges []Charge, results []Result) error {
	if len(results) != len(charges) {
		return fmt.Errorf("ratelimit: %d charges and %d results: want one result a charge", len(charges), len(results))
	}
	return CheckCharges(charges)
}

// CheckCharges returns an error unless each charge is valid by itself, and no two of them name the same bucket: what all
// methods of a [Store] require of their caller.
func CheckCharges(charges []Charge) error {
	for i := range charges {
		c := &charges[i]
		if err := c.check(); err != nil {
			return err
		}
		for j := range i {
			if c.sameBucket(&charges[j]) {
				return fmt.Errorf("ratelimit: charges %d and %d name the same bucket %q %s", j, i, c.Key, c.Name)
			}
		}
	}
	return nil
}

// CheckHolders returns an error unless each charge that takes slots says for whom: what Take and Refund of every [Store]
// require of their caller, besides valid charges.
func CheckHolders(charges []Charge) error {
	for i := range charges {
		if c := &charges[i]; c.Limit.Algorithm == Concurrency && c.Cost > 0 && c.Holder == "" {
			return fmt.Errorf("ratelimit: Charge.Holder of %q %s is empty: %v needs one", c.Key, c.Name, Concurrency)
		}
	}
	return nil
}

// CheckRenewal returns an error unless each charge is valid by itself and of a [Concurrency] limit, has a Holder, and there
// is an element of held for it: what Renew of every [Renewer] requires of its caller.
func CheckRenewal(charges []Charge, held []bool) error {
	if len(held) != len(charges) {
		return fmt.Errorf("ratelimit: %d charges and %d answers: want one answer a charge", len(charges), len(held))
	}
	for i := range charges {
		c := &charges[i]
		if err := c.check(); err != nil {
			return err
		}
		if c.Limit.Algorithm != Concurrency {
			return fmt.Errorf("ratelimit: %v has no lease to renew", c.Limit.Algorithm)
		}
	}
	return CheckHolders(charges)
}

const (
	maxHolder = 128           // bytes
	maxSlots  = 1000          // of one holder: each is kept, and renewed, by itself
	maxDebt   = 1_000_000_000 // units
)

// check returns an error unless the charge is valid by itself.
func (c *Charge) check() error {
	if err := c.Limit.Validate(); err != nil {
		return err
	}
	switch {
	case c.Cost < 0:
		return fmt.Errorf("ratelimit: Charge.Cost is %d: want at least 0", c.Cost)
	case c.Limit.tooManySlots(c.Cost):
		return fmt.Errorf("ratelimit: Charge.Cost is %d: want at most %d slots a holder", c.Cost, maxSlots)
	case c.Taken < 0 || c.Taken%time.Microsecond != 0:
		return fmt.Errorf("ratelimit: Charge.Taken is %v: want the time since 1970, in whole microseconds", c.Taken)
	case len(c.Holder) > maxHolder || strings.ContainsFunc(c.Holder, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("ratelimit: Charge.Holder is %q: want at most %d printable ASCII characters without spaces", c.Holder, maxHolder)
	}
	return cmp.Or(c.Limit.checkWait("Charge.Wait", c.Wait), c.Limit.checkWait("Charge.Delay", c.Delay))
}

// tooManySlots reports whether a cost is of more slots than one holder may have. One of more than there are is refused.
func (l *Limit) tooManySlots(cost int64) bool {
	return l.Algorithm == Concurrency && cost > maxSlots && cost <= l.Count
}

// checkWait returns an error unless a bucket of the limit can be charged so far in advance.
func (l *Limit) checkWait(field string, d time.Duration) error {
	switch {
	case d == 0:
		return nil
	case !algorithms[l.Algorithm].burst:
		return fmt.Errorf("ratelimit: %s is %v: nobody can wait for a turn in a %v", field, d, l.Algorithm)
	case d < 0 || d > maxPeriod || d%time.Microsecond != 0:
		return fmt.Errorf("ratelimit: %s is %v: want at most %v, in whole microseconds", field, d, maxPeriod)
	}
	period := uint64(l.Period.Microseconds())
	hi, lo := bits.Mul64(uint64(d.Microseconds()), uint64(l.Count)) // takes up to 79 bits
	if hi < period {
		if units, _ := bits.Div64(hi, lo, period); units <= maxDebt {
			return nil
		}
	}
	return fmt.Errorf("ratelimit: %s is %v: %d per %v come to more than %d in that time", field, d, l.Count, l.Period, maxDebt)
}

func (c *Charge) sameBucket(d *Charge) bool {
	return c.Limit.Algorithm == d.Limit.Algorithm && c.Name == d.Name && bytes.Equal(c.Key, d.Key)
}
