package ratelimittest

import (
	"slices"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// order is how a Store decides the charges of one call.
type order bool

const (
	atOnce order = false
	byKey  order = true
)

// takeByKey is take, Key by Key in the order in which they first occur.
func (m *model) takeByKey(charges []ratelimit.Charge) []ratelimit.Result {
	var keys []string
	for _, c := range charges {
		if key := string(c.Key); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	results := make([]ratelimit.Result, len(charges))
	var taken []ratelimit.Charge
	for _, key := range keys {
		var own []ratelimit.Charge
		var at []int
		for i, c := range charges {
			if string(c.Key) == key {
				own, at = append(own, c), append(at, i)
			}
		}
		refused := false
		for i, r := range m.takeAtOnce(own) {
			results[at[i]] = r
			refused = refused || !r.Allowed
			own[i].Delay, own[i].Taken = r.Delay, r.At
		}
		if !refused {
			taken = append(taken, own...)
			continue
		}
		m.refund(taken)
		for i, c := range charges {
			if string(c.Key) != key {
				other := []ratelimit.Charge{c}
				r := m.peek(other)
				m.refuse(other, r)
				results[i] = r[0]
			}
		}
		break
	}
	return results
}
