package ratelimittest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Store is a [ratelimit.Store] for tests of what lies behind limits, or in front of them: it allows, refuses or fails as it
// is told, whatever the limits are, and tells what it was asked. Nothing is ever used up, and no time passes in it.
//
// Of a limit with prefetch, an allowed call brings units that the next ones take without asking: an instruction holds for them
// from the next question on, so give it before the first call, or make the Limiter anew.
//
// The zero value allows everything. A Store must not be copied. Its methods are safe for concurrent use.
type Store struct {
	mu           sync.Mutex
	instructions []instruction
	asked        []Ask
}

var (
	_ ratelimit.Store   = (*Store)(nil)
	_ ratelimit.Renewer = (*Store)(nil)
)

// Bucket is which buckets are meant. The zero value is all of them.
type Bucket struct {
	// Key is the identity of a bucket: the key of the directive, then its attributes of the caller, each after a colon, as
	// in "testGet:203.0.113.7". What comes before a colon stands for all that begin so: "testGet" for every client. A method
	// whose directive has no key has its name as one: "users.Service.Get".
	Key string
	// Name is the name of a limit: its period as written, such as "1s", if the directive gives it no other one.
	Name string
}

// Ask is what a Store was asked once.
type Ask struct {
	Do      string // the method: "Take", "Peek", "Refund", "Reset" or "Renew"
	Charges []ratelimit.Charge
}

// instruction is an instruction that holds until a later one is about the same bucket.
type instruction struct {
	buckets []Bucket
	retry   time.Duration // 0: not refused
	err     error
}

// Allow has the Store allow what is asked for these buckets, or for all if there is none, until a later instruction.
func (s *Store) Allow(buckets ...Bucket) { s.instruct(instruction{buckets: buckets}) }

// Refuse has the Store refuse what is asked for these buckets, or for all if there is none, until a later instruction:
// retryAfter is what the refused caller is told, a microsecond at least, or [ratelimit.Never]. Calls that hold a slot of
// such a bucket lose it when it is next to be renewed.
func (s *Store) Refuse(retryAfter time.Duration, buckets ...Bucket) {
	if retryAfter != ratelimit.Never {
		retryAfter = max(retryAfter.Truncate(time.Microsecond), time.Microsecond)
	}
	s.instruct(instruction{buckets: buckets, retry: retryAfter})
}

// Fail has the Store return err, as one that cannot be reached would, for whatever is asked for these buckets, or for all
// if there is none, until a later instruction. What becomes of the call is the Limiter's to say: by default it is then decided
// in memory, as [ratelimit.FailLocal] says. A nil err is one of the Store's own.
func (s *Store) Fail(err error, buckets ...Bucket) {
	if err == nil {
		err = errFail
	}
	s.instruct(instruction{buckets: buckets, err: err})
}

// errFail is for a test that does not care why: with none at all, the Store would allow.
var errFail = errors.New("ratelimittest: told to fail")

func (s *Store) instruct(o instruction) {
	o.buckets = slices.Clone(o.buckets)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(o.buckets) == 0 {
		s.instructions = s.instructions[:0]
	}
	s.instructions = append(s.instructions, o)
}

// Asked returns what the Store was asked, in order. The Limiter asks by goroutines of its own, too, when it renews a lease
// or gives back what was taken by a call that has ended.
func (s *Store) Asked() []Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Take implements [ratelimit.Store].
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := ratelimit.CheckHolders(charges); err != nil {
		return err
	}
	return s.decide(ctx, "Take", charges, results)
}

// Peek implements [ratelimit.Store].
func (s *Store) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	return s.decide(ctx, "Peek", charges, results)
}

func (s *Store) decide(ctx context.Context, do string, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := ratelimit.CheckDecision(charges, results); err != nil {
		return err
	}
	return s.ask(ctx, do, charges, func(instructions []instruction) {
		at := time.Duration(time.Now().UnixMicro()) * time.Microsecond
		refused := slices.ContainsFunc(instructions, func(o instruction) bool { return o.retry != 0 })
		for i := range charges {
			results[i] = answer(&charges[i], instructions[i].retry, refused || do == "Peek")
			results[i].At = at
		}
	})
}

// answer returns what a bucket that is as new, but for the call, answers to a charge.
func answer(c *ratelimit.Charge, retry time.Duration, kept bool) ratelimit.Result {
	capacity := c.Limit.Capacity()
	r := ratelimit.Result{Allowed: retry == 0, Limit: capacity, Remaining: capacity, RetryAfter: retry}
	switch {
	case !r.Allowed:
		r.Remaining, r.ResetAfter = 0, retry
		if retry == ratelimit.Never {
			r.ResetAfter = c.Limit.Period
		}
	case !kept && c.Cost > 0:
		r.Remaining, r.ResetAfter = max(capacity-c.Cost, 0), c.Limit.Period
	}
	return r
}

// Refund implements [ratelimit.Store].
func (s *Store) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	return s.change(ctx, "Refund", charges)
}

// Reset implements [ratelimit.Store].
func (s *Store) Reset(ctx context.Context, charges []ratelimit.Charge) error {
	return s.change(ctx, "Reset", charges)
}

func (s *Store) change(ctx context.Context, do string, charges []ratelimit.Charge) error {
	if err := ratelimit.CheckCharges(charges); err != nil {
		return err
	}
	return s.ask(ctx, do, charges, func([]instruction) {})
}

// Renew implements [ratelimit.Renewer].
func (s *Store) Renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	if err := ratelimit.CheckRenewal(charges, held); err != nil {
		return err
	}
	return s.ask(ctx, "Renew", charges, func(instructions []instruction) {
		for i, o := range instructions {
			held[i] = o.retry == 0
		}
	})
}

// ask notes what was asked, and answers unless it is to fail. The instructions it hands over are one for each charge.
func (s *Store) ask(ctx context.Context, do string, charges []ratelimit.Charge, answer func(instructions []instruction)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, instructions := slices.Clone(charges), make([]instruction, len(charges))
	for i := range asked {
		c := &asked[i]
		c.Key = bytes.Clone(c.Key)
		instructions[i] = s.instruction(c)
	}
	s.asked = append(s.asked, Ask{do, asked})
	for _, o := range instructions {
		if o.err != nil {
			return o.err
		}
	}
	answer(instructions)
	return nil
}

// instruction returns the latest instruction about the bucket of a charge.
func (s *Store) instruction(c *ratelimit.Charge) instruction {
	for _, o := range slices.Backward(s.instructions) {
		if len(o.buckets) == 0 || slices.ContainsFunc(o.buckets, func(b Bucket) bool { return b.has(c) }) {
			return o
		}
	}
	return instruction{}
}

func (b Bucket) has(c *ratelimit.Charge) bool {
	rest, ok := bytes.CutPrefix(c.Key, []byte(b.Key))
	return ok && (b.Key == "" || len(rest) == 0 || rest[0] == ':') && (b.Name == "" || b.Name == c.Name)
}
