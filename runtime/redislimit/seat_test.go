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
