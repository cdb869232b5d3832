package redislimit

import (
	"fmt"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// A call of an ask that there is already costs no memory, however many there are.
func TestEqualCallAllocatesNothing(t *testing.T) {
	s := New(nil)
	g := gatherer{flights: maxFlights}
	charges := []ratelimit.Charge{
		{Key: []byte("testGet:203.0.113.7"), Name: "1s", Limit: ratelimit.Limit{Count: 5, Period: time.Second}, Cost: 1},
		{Key: []byte("testGet:203.0.113.7"), Name: "1h", Limit: ratelimit.Limit{Count: 100, Period: time.Hour}, Cost: 1},
	}
	allocs := testing.AllocsPerRun(1000, func() {
		if st, full, err := g.board(t.Context(), s, 0, charges); st.batch == nil || full != nil || err != nil {
			t.Fatal(st, full, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a call: want none", allocs)
	}
	if n := len(g.queue[0].asks); n != 1 {
		t.Errorf("%d asks: want one", n)
	}
}

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

// Those who stay move up, in the order in which they came.
func TestPlacesOfThoseWhoStay(t *testing.T) {
	s := New(nil)
	g := gatherer{flights: maxFlights}
	charges := []ratelimit.Charge{{Key: []byte("a"), Name: "n", Limit: ratelimit.Limit{Count: 5, Period: time.Minute}, Cost: 1}}
	board := func() seat {
		st, _, err := g.board(t.Context(), s, 0, charges)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	var seats []seat
	for range 6 {
		seats = append(seats, board())
	}
	for _, i := range []int{4, 0, 1} {
		g.leave(seats[i])
	}
	seats = append(seats, board())
	var places []int
	for _, i := range []int{2, 3, 5, 6} {
		places = append(places, seats[i].place())
	}
	if got, want := fmt.Sprint(places), "[0 1 2 3]"; got != want || seats[6].ask.calls != 4 {
		t.Errorf("places %s of %d calls: want %s of 4", got, seats[6].ask.calls, want)
	}
}
