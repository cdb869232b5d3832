package ratelimittest_test

import (
	"context"
	"errors"
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
	"a log keeps one entry a microsecond": func(s *ratelimittest.ModelStore) faulty {
		entered := map[string]int64{}
		return faulty{ModelStore: s, take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			for i := range charges {
				if log(charges[i]) && entered[string(charges[i].Key)] == s.Now() {
					return s.Peek(ctx, charges, results)
				}
				entered[string(charges[i].Key)] = s.Now()
			}
			return s.Take(ctx, charges, results)
		}}
	},
	"a log's retry is that of its newest entry": func(s *ratelimittest.ModelStore) faulty {
		return altered(s, func(c ratelimit.Charge, r *ratelimit.Result) {
			if log(c) && !r.Allowed && r.RetryAfter != ratelimit.Never {
				r.RetryAfter = r.ResetAfter
			}
		})
	},
	"a log counts calls, whatever they cost": func(s *ratelimittest.ModelStore) faulty {
		return instead(s, func(c *ratelimit.Charge) {
			if log(*c) {
				c.Cost = min(c.Cost, 1)
			}
		})
	},
	"a log lives for a period from its first entry": func(s *ratelimittest.ModelStore) faulty {
		first := map[string]int64{}
		return faulty{ModelStore: s, take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			for i, c := range charges {
				if key := string(c.Key); log(c) && s.Now()-first[key] >= c.Limit.Period.Microseconds() {
					first[key] = s.Now()
					if err := s.Reset(ctx, charges[i:i+1]); err != nil {
						return err
					}
				}
			}
			return s.Take(ctx, charges, results)
		}}
	},
	"a log gives back its newest units, whenever they were taken": func(s *ratelimittest.ModelStore) faulty {
		newest := map[string]time.Duration{}
		f := altered(s, func(c ratelimit.Charge, r *ratelimit.Result) {
			if log(c) && r.Allowed && c.Cost > 0 {
				newest[string(c.Key)] = r.At
			}
		})
		f.refund = refunding(s, func(c *ratelimit.Charge) {
			if log(*c) {
				c.Taken = newest[string(c.Key)]
			}
		})
		return f
	},
	"when units were taken is ignored": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, refund: refunding(s, func(c *ratelimit.Charge) { c.Taken = 0 })}
	},
	"a window does not ask when units were taken": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, refund: refunding(s, func(c *ratelimit.Charge) {
			if c.Limit.Algorithm == ratelimit.FixedWindow {
				c.Taken = 0
			}
		})}
	},
	"an answer does not say when it was given": func(s *ratelimittest.ModelStore) faulty {
		return altered(s, func(_ ratelimit.Charge, r *ratelimit.Result) { r.At = 0 })
	},
	"a lease does not end": func(s *ratelimittest.ModelStore) faulty {
		return instead(s, func(c *ratelimit.Charge) {
			if slots(*c) {
				c.Limit.Period = 87600 * time.Hour
			}
		})
	},
	"a slot is released by whoever asks": func(s *ratelimittest.ModelStore) faulty {
		last := map[string]string{}
		return faulty{
			ModelStore: s,
			take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
				err := s.Take(ctx, charges, results)
				for i, c := range charges {
					if err == nil && results[i].Allowed {
						last[string(c.Key)] = c.Holder
					}
				}
				return err
			},
			refund: func(ctx context.Context, charges []ratelimit.Charge) error {
				err := s.Refund(ctx, charges)
				if !errors.Is(err, ratelimit.ErrLeaseLost) {
					return err
				}
				return refunding(s, func(c *ratelimit.Charge) { c.Holder = last[string(c.Key)] })(ctx, charges)
			},
		}
	},
	"the release of a lease that has ended is none the worse": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, refund: func(ctx context.Context, charges []ratelimit.Charge) error {
			err := s.Refund(ctx, charges)
			if errors.Is(err, ratelimit.ErrLeaseLost) {
				return nil
			}
			return err
		}}
	},
	"a renewal revives a lease that has ended": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, renew: func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
			err := s.Renew(ctx, charges, held)
			for i := range held {
				if err == nil && !held[i] {
					result := make([]ratelimit.Result, 1)
					err = s.Take(ctx, charges[i:i+1], result)
					held[i] = result[0].Allowed
				}
			}
			return err
		}}
	},
	"a holder that takes again takes more": func(s *ratelimittest.ModelStore) faulty {
		return instead(s, func(c *ratelimit.Charge) {
			if slots(*c) && c.Holder != "" {
				held := make([]bool, 1)
				for s.Renew(context.Background(), []ratelimit.Charge{*c}, held) == nil && held[0] && c.Cost > 0 {
					c.Holder += "+"
				}
			}
		})
	},
	"nobody waits": func(s *ratelimittest.ModelStore) faulty {
		return instead(s, func(c *ratelimit.Charge) { c.Wait = 0 })
	},
	"all that wait have the same turn": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, take: func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			err := s.Peek(ctx, charges, results)
			for _, r := range results {
				if r.Delay > 0 {
					return err
				}
			}
			return s.Take(ctx, charges, results)
		}}
	},
	"who gives up waiting gives nothing back": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, refund: refunding(s, func(c *ratelimit.Charge) {
			if c.Delay > 0 {
				c.Cost = 0
			}
		})}
	},
	"who gives up waiting gives back what others are behind": func(s *ratelimittest.ModelStore) faulty {
		return faulty{ModelStore: s, refund: refunding(s, func(c *ratelimit.Charge) { c.Delay = 0 })}
	},
}

func log(c ratelimit.Charge) bool { return c.Limit.Algorithm == ratelimit.SlidingLog }

func slots(c ratelimit.Charge) bool { return c.Limit.Algorithm == ratelimit.Concurrency }

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

// refunding returns a Refund that gives back other charges.
func refunding(s *ratelimittest.ModelStore, change func(*ratelimit.Charge)) func(ctx context.Context, charges []ratelimit.Charge) error {
	return func(ctx context.Context, charges []ratelimit.Charge) error {
		charges = slices.Clone(charges)
		for i := range charges {
			change(&charges[i])
		}
		return s.Refund(ctx, charges)
	}
}
