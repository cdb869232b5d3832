package redislimit

import (
	"encoding/binary"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// identity is the same for calls of equal charges only.
type identity struct {
	text    string // see appendIdentity
	charges int
	limit   ratelimit.Limit // of the first charge
	cost    int64
}

// appendIdentity appends the key of the bucket of a single charge, and of several all that they are, where each part says
// how long it is.
func (s *Store) appendIdentity(text []byte, charges []ratelimit.Charge) []byte {
	if len(charges) == 1 {
		return s.appendKey(text, &charges[0])
	}
	for i := range charges {
		c := &charges[i]
		text = binary.AppendVarint(text, int64(len(c.Key)))
		text = append(text, c.Key...)
		text = binary.AppendVarint(text, int64(len(c.Name)))
		text = append(text, c.Name...)
		l := &c.Limit
		for _, n := range [...]int64{int64(l.Algorithm), l.Count, int64(l.Period), l.Burst, int64(l.Refill), c.Cost} {
			text = binary.AppendVarint(text, n)
		}
	}
	return text
}
