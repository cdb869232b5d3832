package redislimit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// stage is a server and where calls can be rehearsed there.
type stage struct {
	server   string
	client   processor     // of the server
	node     *redis.Client // the same, of a Cluster whose other nodes have keys, too
	rights   []right       // that it takes
	store    *Store        // which leads there for this identity
	identity []byte        // of buckets that live there
	others   [][]byte      // identities of further buckets that should, together
}

// check rehearses calls, and finds out why if they fail.
func (st *stage) check(ctx context.Context) error {
	err := st.rehearse(ctx)
	if err == nil && st.node != nil {
		err = st.checkSlots(ctx)
	}
	if err == nil {
		return nil
	}
	e := errorOf(err)
	return st.store.failed(st.server, fault(e.Kind, st.explained(ctx, e)))
}

// explained returns the cause of an error, in words that tell what to do where the server's do not.
func (st *stage) explained(ctx context.Context, e *Error) error {
	if e.Kind == KindForbidden {
		return st.forbidden(ctx, e.Err)
	}
	return explained(st.client, e)
}

// clean removes what a rehearsal that failed has left, for which it takes its time if the context has ended. What fails
// here, too, has been said.
func (st *stage) clean(ctx context.Context) {
	_, _ = within(ctx, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		defer cancel()
		return nil, st.reset(ctx)
	})
}

// reset removes the buckets of the rehearsal.
func (st *stage) reset(ctx context.Context) error {
	var charges []ratelimit.Charge
	for _, algorithm := range algorithms {
		charges = append(charges, st.charge(algorithm))
	}
	return st.store.Reset(ctx, charges)
}

// charge returns one of the rehearsal.
func (st *stage) charge(algorithm ratelimit.Algorithm) ratelimit.Charge {
	return ratelimit.Charge{
		Key:    st.identity,
		Name:   "check",
		Limit:  ratelimit.Limit{Algorithm: algorithm, Count: 5, Period: time.Minute},
		Cost:   1,
		Fresh:  true,
		Holder: "check",
	}
}

var algorithms = []ratelimit.Algorithm{
	ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog,
	ratelimit.SlidingWindow, ratelimit.LeakyBucket, ratelimit.Concurrency,
}

// rehearsal is calls that run all commands of all scripts. Until those of the first buckets have succeeded, there is no
// key that would not expire if the rest failed.
var rehearsal = []struct {
	do        string
	algorithm ratelimit.Algorithm
	period    time.Duration
	cost      int64
	refused   bool
}{
	{do: "take", algorithm: ratelimit.TokenBucket, cost: 2},
	{do: "take", algorithm: ratelimit.TokenBucket, cost: 5, period: 2 * time.Minute, refused: true}, // lives longer now
	{do: "peek", algorithm: ratelimit.TokenBucket, cost: 1},
	{do: "refund", algorithm: ratelimit.TokenBucket, cost: 2},
	{do: "take", algorithm: ratelimit.FixedWindow, cost: 1},
	{do: "take", algorithm: ratelimit.SlidingWindow, cost: 1},
	{do: "take", algorithm: ratelimit.LeakyBucket, cost: 1},
	{do: "take", algorithm: ratelimit.SlidingLog, cost: 1},
	{do: "take", algorithm: ratelimit.SlidingLog, cost: 1},
	{do: "refund", algorithm: ratelimit.SlidingLog, cost: 1}, // of the oldest
	{do: "take", algorithm: ratelimit.Concurrency, cost: 2},
	{do: "renew", algorithm: ratelimit.Concurrency, cost: 2},
	{do: "refund", algorithm: ratelimit.Concurrency, cost: 1},
}

// rehearse makes the calls, and returns the first error.
func (st *stage) rehearse(ctx context.Context) (err error) {
	for _, r := range st.rights {
		if !slices.Contains(unmissed, r.command) {
			continue
		}
		if err := st.try(ctx, r); err != nil && kindOf(err) == KindForbidden {
			return fault(KindForbidden, err)
		}
	}
	if err := st.together(ctx); err != nil {
		return err
	}
	taken := map[ratelimit.Algorithm]time.Duration{} // when it was first taken of
	defer func() {
		if err != nil && len(taken) > 0 {
			st.clean(ctx)
		}
	}()
	for _, step := range rehearsal {
		c := st.charge(step.algorithm)
		c.Limit.Period = cmp.Or(step.period, c.Limit.Period)
		c.Cost = step.cost
		if step.do == "refund" {
			c.Taken = taken[step.algorithm]
		}
		result, err := st.call(ctx, step.do, c)
		if err != nil {
			return err
		}
		if step.do != "take" {
			continue
		}
		if result.Allowed == step.refused {
			return fault(KindReply, fmt.Errorf("a wrong decision: a %v answers %+v", step.algorithm, result))
		}
		taken[step.algorithm] = cmp.Or(taken[step.algorithm], result.At)
	}
	return st.reset(ctx)
}

// together returns an error if the further buckets do not live together, as those of several limits of a call do.
func (st *stage) together(ctx context.Context) error {
	charges := make([]ratelimit.Charge, len(st.others))
	for i, identity := range st.others {
		charges[i] = st.charge(ratelimit.TokenBucket)
		charges[i].Key = identity
	}
	return st.store.Peek(ctx, charges, make([]ratelimit.Result, len(charges)))
}

func (st *stage) call(ctx context.Context, do string, c ratelimit.Charge) (ratelimit.Result, error) {
	charges, results := []ratelimit.Charge{c}, make([]ratelimit.Result, 1)
	var err error
	switch do {
	case "take":
		err = st.store.Take(ctx, charges, results)
	case "peek":
		err = st.store.Peek(ctx, charges, results)
	case "refund":
		err = st.store.Refund(ctx, charges)
	case "renew":
		err = st.store.Renew(ctx, charges, make([]bool, 1))
	}
	return results[0], err
}
