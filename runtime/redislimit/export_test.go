package redislimit

import (
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/lua"
)

// NewPatient returns a Store for tests that are not about time: the machine may be busy with others.
func NewPatient(client redis.UniversalClient, opts ...Option) *Store {
	return New(client, append([]Option{Timeout(10 * time.Second)}, opts...)...)
}

// NewWithPrelude returns a patient Store whose scripts begin with a text of the test's.
func NewWithPrelude(client redis.UniversalClient, prelude string, opts ...Option) *Store {
	s := NewPatient(client, opts...)
	s.scripts = &scripts{
		take:   newScript(prelude + lua.Take),
		peek:   newScript(prelude + lua.Peek),
		refund: newScript(prelude + lua.Refund),
		renew:  newScript(prelude + lua.Renew),
	}
	return s
}

// ClientTimeOf is [ClientTime] with another clock than the process's.
func ClientTimeOf(now func() time.Time) Option {
	return optionFunc(func(s *Store) { s.now = now })
}
