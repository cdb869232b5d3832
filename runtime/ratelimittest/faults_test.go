package ratelimittest_test

import (
	"context"
	"slices"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

// faulty is a Store with a fault: what its functions do, they do in place of the Store's.
type faulty struct {
	*ratelimittest.ModelStore
	take, peek decision
	refund     func(ctx context.Context, charges []ratelimit.Charge) error
	renew      func(ctx context.Context, charges []ratelimit.Charge, held []bool) error
}

type decision func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error

func (f faulty) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if f.take == nil {
		return f.ModelStore.Take(ctx, charges, results)
	}
	return f.take(ctx, charges, results)
}

func (f faulty) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if f.peek == nil {
		return f.ModelStore.Peek(ctx, charges, results)
	}
	return f.peek(ctx, charges, results)
}

func (f faulty) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	if f.refund == nil {
		return f.ModelStore.Refund(ctx, charges)
	}
	return f.refund(ctx, charges)
}

func (f faulty) Renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	if f.renew == nil {
		return f.ModelStore.Renew(ctx, charges, held)
	}
	return f.renew(ctx, charges, held)
}

// faults are those of limiters in the field.
var faults = map[string]func(s *ratelimittest.ModelStore) faulty{
	"retry in whole milliseconds": func(s *ratelimittest.ModelStore) faulty {
		return altered(s, func(_ ratelimit.Charge, r *ratelimit.Result) {
			if r.RetryAfter != ratelimit.Never {
				r.RetryAfter = r.RetryAfter.Truncate(time.Millisecond)
			}
		})
	},
	"negative retry when allowed": func(s *ratelimittest.ModelStore) faulty {
		return altered(s, func(_ ratelimit.Charge, r *ratelimit.Result) {
			if r.Allowed {
				r.RetryAfter = -1
			}
		})
	},
	"reset is retry": func(s *ratelimittest.ModelStore) faulty {
		return altered(s, func(_ ratelimit.Charge, r *ratelimit.Result) {
			if !r.Allowed {
				r.ResetAfter = r.RetryAfter
			}
		})
	},
	"limits charged one after the other": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			if err := ratelimit.CheckDecision(charges, results); err != nil {
				return err
			}
			for i := range charges {
				if err := s.Take(ctx, charges[i:i+1], results[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		}}
	},
	"peek takes": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, peek: s.Take}
	},
	"names are ignored": func(s *ratelimittest.ModelStore) faulty {
		return instead(s, func(c *ratelimit.Charge) { c.Name = "" })
	},
	"the context is ignored": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			return s.Take(context.WithoutCancel(ctx), charges, results)
		}}
	},
	"burst is ignored": func(s *ratelimittest.ModelStore) faulty {
		return instead(s, func(c *ratelimit.Charge) { c.Limit.Burst = 0 })
	},
}

// altered returns a Store whose Take changes the results.
func altered(s *ratelimittest.ModelStore, change func(ratelimit.Charge, *ratelimit.Result)) faulty {
	return faulty{ModelStore: s, take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
		err := s.Take(ctx, charges, results)
		for i := range results {
			change(charges[i], &results[i])
		}
		return err
	}}
}

// instead returns a Store whose Take takes other charges.
func instead(s *ratelimittest.ModelStore, change func(*ratelimit.Charge)) faulty {
	return faulty{ModelStore: s, take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
		charges = slices.Clone(charges)
		for i := range charges {
			change(&charges[i])
		}
		return s.Take(ctx, charges, results)
	}}
}
