package redislimit

import (
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// localKeys bounds the memory of a long outage: some hundred megabytes.
const localKeys = 1_000_000

// Local returns the Store in this process's memory that decides calls while Redis does not answer, if the Limiter is to
// do so, see [ratelimit.FailLocal]. It keeps up to a million buckets, see [memlimit.MaxKeys].
func (s *Store) Local() ratelimit.Store {
	if s.local == nil { // of the zero Store
		return nil
	}
	return s.local
}

func newLocal() *memlimit.Store { return memlimit.New(memlimit.MaxKeys(localKeys)) }
