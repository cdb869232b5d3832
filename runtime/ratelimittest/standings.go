package ratelimittest

import (
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// standing is a bucket as it stands at the model's time, before a charge.
type standing interface {
	left() int64           // units that are left; below 0 when callers wait for their turn, or after the limit was lowered
	retry() int64          // time until the charge, no more than the capacity, finds its units; 0 or less if it does now
	reset() int64          // time until the bucket is as new; 0 if it is
	take()                 // takes the units of the charge
	refund(n, taken int64) // gives n units of the charge back, which were taken at a time, now or before
	remember() state
	ahead() bool // whether its state lies in the future, from where a refused call takes it to the present
}

// state is what is remembered of a bucket: of most kinds three numbers, of which the functions below say what they are.
type state struct {
	used, part, mark int64
	log              []entry        // of a sliding log, oldest first
	leases           map[slot]int64 // of a concurrency limit, when each ends
}

// standings say how a bucket of a state stands before a charge at the time now.
var standings = map[ratelimit.Algorithm]func(b state, c ratelimit.Charge, now int64) standing{
	ratelimit.TokenBucket:   tokenBucket,
	ratelimit.FixedWindow:   fixedWindow,
	ratelimit.SlidingLog:    slidingLog,
	ratelimit.SlidingWindow: slidingWindow,
	ratelimit.LeakyBucket:   leakyBucket,
	ratelimit.Concurrency:   concurrency,
}
