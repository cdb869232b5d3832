package redislimit

import (
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/lua"
)

// NewWithPrelude returns a Store whose scripts begin with a text of the test's.
func NewWithPrelude(client redis.UniversalClient, prelude string) *Store {
	s := New(client)
	s.scripts = &scripts{
		take:   newScript(prelude + lua.Take),
		peek:   newScript(prelude + lua.Peek),
		refund: newScript(prelude + lua.Refund),
		renew:  newScript(prelude + lua.Renew),
	}
	return s
}
