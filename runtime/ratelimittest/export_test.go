package ratelimittest

import (
	"context"
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// ModelStore is the model as a Store, with a clock that Advance moves.
type ModelStore struct {
	mu sync.Mutex
	model
}

var _ interface {
	ratelimit.Store
	ratelimit.Renewer
} = (*ModelStore)(nil)

// NewModelStore returns an empty Store of the year 2000.
func NewModelStore() *ModelStore {
	return &ModelStore{model: model{now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), buckets: map[bucketName]remembered{}}}
}

func (s *ModelStore) Advance(d time.Duration) {
	s.now += d.Microseconds()
	s.forget()
}

// Now returns the time in microseconds since 1970.
func (s *ModelStore) Now() int64 { return s.now }

func (s *ModelStore) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	return s.do(ctx, ratelimit.CheckDecision(charges, results), ratelimit.CheckHolders(charges), func() error {
		copy(results, s.take(charges))
		return nil
	})
}

func (s *ModelStore) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	return s.do(ctx, ratelimit.CheckDecision(charges, results), nil, func() error {
		copy(results, s.peek(charges))
		return nil
	})
}

func (s *ModelStore) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	return s.do(ctx, ratelimit.CheckCharges(charges), ratelimit.CheckHolders(charges), func() error {
		if s.refund(charges) {
			return ratelimit.ErrLeaseLost
		}
		return nil
	})
}

func (s *ModelStore) Reset(ctx context.Context, charges []ratelimit.Charge) error {
	return s.do(ctx, ratelimit.CheckCharges(charges), nil, func() error {
		s.reset(charges)
		return nil
	})
}

func (s *ModelStore) Renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	return s.do(ctx, ratelimit.CheckRenewal(charges, held), nil, func() error {
		for i, r := range s.renew(charges) {
			held[i] = r.Allowed
		}
		return nil
	})
}

// do does one thing unless there is an error.
func (s *ModelStore) do(ctx context.Context, invalid, noHolder error, what func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, err := range []error{ctx.Err(), invalid, noHolder} {
		if err != nil {
			return err
		}
	}
	return what()
}
