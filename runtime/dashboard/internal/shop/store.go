package shop

import (
	"context"
	"errors"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// Store keeps buckets in memory and answers nothing for a few seconds now and then, as a server in trouble would.
type Store struct {
	*memlimit.Store
	begin time.Time
}

// NewStore returns a Store that is well for the first 40 seconds.
func NewStore() *Store { return &Store{memlimit.New(), time.Now()} }

const (
	every = 2 * time.Minute
	after = 40 * time.Second
	lasts = 4 * time.Second
)

var errMood = errors.New("the store does not answer, for the sake of the example")

// Take implements [ratelimit.Store].
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if since := time.Since(s.begin) % every; since >= after && since < after+lasts {
		return errMood
	}
	return s.Store.Take(ctx, charges, results)
}
