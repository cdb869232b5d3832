package ratelimittest_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

// faulty is a Store with a fault: what its functions do, they do in place of the Store's.
type faulty struct {
	*memlimit.Store
	take func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error
	peek func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error
}

func (f faulty) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if f.take == nil {
		return f.Store.Take(ctx, charges, results)
	}
	return f.take(f.Store, ctx, charges, results)
}

func (f faulty) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if f.peek == nil {
		return f.Store.Peek(ctx, charges, results)
	}
	return f.peek(f.Store, ctx, charges, results)
}

type method = func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error

// altered returns a take that changes the results.
func altered(change func(*ratelimit.Result)) method {
	return func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
		err := s.Take(ctx, charges, results)
		for i := range results {
			change(&results[i])
		}
		return err
	}
}

// faults are those of limiters in the field.
var faults = map[string]faulty{
	"retry in whole milliseconds": {take: altered(func(r *ratelimit.Result) {
		if r.RetryAfter != ratelimit.Never {
			r.RetryAfter = r.RetryAfter.Truncate(time.Millisecond)
		}
	})},
	"negative retry when allowed": {take: altered(func(r *ratelimit.Result) {
		if r.Allowed {
			r.RetryAfter = -1
		}
	})},
	"reset is retry": {take: altered(func(r *ratelimit.Result) {
		if !r.Allowed {
			r.ResetAfter = r.RetryAfter
		}
	})},
	"limits charged one after the other": {
		take: func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			if err := ratelimit.CheckDecision(charges, results); err != nil {
				return err
			}
			for i := range charges {
				if err := s.Take(ctx, charges[i:i+1], results[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		},
	},
	"peek takes": {peek: (*memlimit.Store).Take},
	"names are ignored": {
		take: func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			for i := range charges {
				charges[i].Name = ""
			}
			return s.Take(ctx, charges, results)
		},
	},
	"the context is ignored": {
		take: func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			return s.Take(context.WithoutCancel(ctx), charges, results)
		},
	},
	"burst is ignored": {
		take: func(s *memlimit.Store, ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			for i := range charges {
				charges[i].Limit.Burst = 0
			}
			return s.Take(ctx, charges, results)
		},
	},
}

// TestFaultsAreFound runs the suite on each faulty Store, in a process of its own that must fail.
func TestFaultsAreFound(t *testing.T) {
	if name := os.Getenv("RATELIMITTEST_FAULT"); name != "" {
		f := faults[name]
		ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
			synctest.Test(t, func(t *testing.T) {
				f.Store = memlimit.New()
				test(t, f, time.Sleep)
			})
		})
		return
	}
	for name := range faults {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestFaultsAreFound$", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
			cmd.Env = append(os.Environ(), "RATELIMITTEST_FAULT="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("--- FAIL: TestFaultsAreFound/")) {
				t.Errorf("the suite passes, or ends otherwise: %v\n%s", err, out)
			}
		})
	}
}
