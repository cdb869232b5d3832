package redislimit

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// What differs in anything that a decision goes by is another ask, whatever bytes its parts have.
func TestIdentity(t *testing.T) {
	limit := ratelimit.Limit{Count: 5, Period: time.Minute}
	charge := func(change func(*ratelimit.Charge)) ratelimit.Charge {
		c := ratelimit.Charge{Key: []byte("a"), Name: "n", Limit: limit, Cost: 1}
		change(&c)
		return c
	}
	one := charge(func(*ratelimit.Charge) {})
	s := New(nil)
	of := func(charges ...ratelimit.Charge) identity {
		return identity{string(s.appendIdentity(nil, charges)), len(charges), charges[0].Limit, charges[0].Cost}
	}
	different := map[string]identity{
		"one":           of(one),
		"two":           of(one, one),
		"key":           of(charge(func(c *ratelimit.Charge) { c.Key = []byte("b") })),
		"name":          of(charge(func(c *ratelimit.Charge) { c.Name = "m" })),
		"cost":          of(charge(func(c *ratelimit.Charge) { c.Cost = 2 })),
		"count":         of(charge(func(c *ratelimit.Charge) { c.Limit.Count = 6 })),
		"period":        of(charge(func(c *ratelimit.Charge) { c.Limit.Period = time.Hour })),
		"burst":         of(charge(func(c *ratelimit.Charge) { c.Limit.Burst = 6 })),
		"refill":        of(charge(func(c *ratelimit.Charge) { c.Limit.Refill = ratelimit.Interval })),
		"algorithm":     of(charge(func(c *ratelimit.Charge) { c.Limit.Algorithm = ratelimit.FixedWindow })),
		"order":         of(one, charge(func(c *ratelimit.Charge) { c.Key = []byte("b") })),
		"another order": of(charge(func(c *ratelimit.Charge) { c.Key = []byte("b") }), one),
		"longer key":    of(charge(func(c *ratelimit.Charge) { c.Key, c.Name = []byte("ab"), "c" })),
		"longer name":   of(charge(func(c *ratelimit.Charge) { c.Key, c.Name = []byte("a"), "bc" })),
		"name of bytes": of(charge(func(c *ratelimit.Charge) { c.Name = of(one).text })),
		"text of two":   of(charge(func(c *ratelimit.Charge) { c.Name = of(one, one).text })),
	}
	seen := map[identity]string{}
	for name, id := range different {
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s are the same", name, other)
		}
		seen[id] = name
	}
	if of(one) != of(charge(func(*ratelimit.Charge) {})) {
		t.Error("equal charges are not the same")
	}
}
