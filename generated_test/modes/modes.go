// Package modes has limits that do not hold: some only look on, and some are off.
package modes

import "context"

// Quiet has no limit that holds.
type Quiet interface {
	//ratelimit:count=1 time=1h mode=shadow
	Hear(ctx context.Context) error
	//ratelimit:count=1 time=1h mode=off fallback=guess
	Count() int
	//ratelimit:count=1 time=1h mode=shadow fallback=guess
	Watch() int
	//ratelimit:count=1 time=1h mode=shadow fallback=guess
	//ratelimit:count=1 time=1d mode=off fallback=guess
	Both() int
}

func guess() int { return -1 }

type Search interface {
	//ratelimit:count=1 time=1h mode=shadow
	Shadow(ctx context.Context) error
	//ratelimit:count=1 time=1h mode=off
	Off(ctx context.Context) error
	//ratelimit:count=1 time=1h mode=enforce
	Enforce(ctx context.Context) error
	// Tighter is to have a lower limit: shadow says what that would refuse.
	//
	//ratelimit:count=3 time=1h
	//ratelimit:count=1 time=1h name=next mode=shadow
	Tighter(ctx context.Context) error
	// Whole has limits with all there is to a limit. They stay in the code, so that they can be switched on.
	//
	//ratelimit:key=whole:{q}:{@user} count=2 time=1h cost={len(q)} skip={q == ""} refund={err != nil} wait=1s mode=off
	//ratelimit:count=1 algorithm=concurrency mode=off
	Whole(ctx context.Context, q string) error
	// Slots are counted, but never lacking.
	//
	//ratelimit:count=1 algorithm=concurrency mode=shadow
	Slots(ctx context.Context, inner func(context.Context) error) error
}
