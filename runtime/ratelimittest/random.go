package ratelimittest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// direction is where a clock may go.
type direction bool

const (
	forwards        direction = false
	forwardsAndBack direction = true
)

const (
	// start is the model's time at the start of a trace: 2050, or so. Stores are brought there first, and from then on
	// agree with the model on where the windows lie that follow each other from 1970 on.
	start = 80 * int64(365*24*time.Hour/time.Microsecond)
	// maxSpan bounds how far the time of a trace goes from its start, so that no Store's clock overflows: it still counts
	// after maxSpan, the hundred years of the slowest limit and twenty of waiting, 285 years after 1970.
	maxSpan = 80 * 365 * 24 * time.Hour
)

// callsPerCheck is how many random calls a Store gets at least for each check of rapid, which makes 100 unless the flag
// -rapid.checks or the variable RAPID_CHECKS says otherwise.
const callsPerCheck = 200

// action is one call of a trace, after a pause, with the answers of the model.
type action struct {
	pause   time.Duration
	do      string
	charges []ratelimit.Charge
	want    []ratelimit.Result
	lost    bool // whether the error says that a lease is lost
}

// trace are calls one after the other.
type trace []action

// agree runs traces of random calls against the model first and then against a store.
func agree(t *testing.T, newStore func(t *testing.T, test Test), d direction, o order) {
	renews := false
	newStore(t, func(_ *testing.T, store ratelimit.Store, _ func(time.Duration)) {
		_, renews = store.(ratelimit.Renewer)
	})
	calls, traces := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for left := callsPerCheck; left > 0; {
			tr := drawTrace(d, o, renews).Draw(rt, "trace")
			fault := "newStore did not run the test"
			newStore(t, func(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
				fault = tr.replay(t, store, advance)
			})
			if fault != "" {
				rt.Fatal(fault)
			}
			left -= len(tr)
			calls += len(tr)
			traces++
		}
	})
	t.Logf("%d random calls in %d traces", calls, traces)
}

// replay returns what went wrong, or nothing.
func (tr trace) replay(t *testing.T, store ratelimit.Store, advance func(time.Duration)) string {
	t.Helper()
	advance(micros(start - clock(t, store)))
	for i, a := range tr {
		if a.pause != 0 {
			advance(a.pause)
		}
		got := make([]ratelimit.Result, len(a.charges))
		err := perform(t, store, a.do, a.charges, got)
		if lost := errors.Is(err, ratelimit.ErrLeaseLost); err != nil && !lost || lost != a.lost {
			return fmt.Sprintf("%v\nerror %v: want one that a lease is lost: %v", tr[:i+1], err, a.lost)
		}
		for j := range a.want {
			if got[j] != a.want[j] {
				return fmt.Sprintf("%v\ncharge %d:\n got %s\nwant %s", tr[:i+1], j, show(got[j]), show(a.want[j]))
			}
		}
	}
	return ""
}

// String returns the calls, one a line.
func (tr trace) String() string {
	var b strings.Builder
	for _, a := range tr {
		fmt.Fprintf(&b, "\nafter %v %s", a.pause, a.do)
		for _, c := range a.charges {
			fmt.Fprintf(&b, " [%s/%s cost %d of %+v", c.Key, c.Name, c.Cost, c.Limit)
			if c.Wait != 0 || c.Delay != 0 {
				fmt.Fprintf(&b, " wait %v delay %v", c.Wait, c.Delay)
			}
			if c.Taken != 0 {
				fmt.Fprintf(&b, " taken at %v", c.Taken)
			}
			if c.Holder != "" {
				fmt.Fprintf(&b, " by %s", c.Holder)
			}
			b.WriteByte(']')
		}
	}
	return b.String()
}

// GoString keeps rapid's report short: what went wrong comes with the calls that led to it.
func (tr trace) GoString() string { return fmt.Sprintf("%d calls", len(tr)) }

// drawTrace draws calls on few buckets with few limits, so that they meet, and with the costs and pauses at which an
// answer changes.
func drawTrace(d direction, o order, renews bool) *rapid.Generator[trace] {
	return rapid.Custom(func(rt *rapid.T) trace {
		p := &player{direction: d, renews: renews}
		p.model = &model{now: start, order: o, buckets: map[bucketName]remembered{}}
		p.offers = rapid.SliceOfN(drawOffer(), 1, 3).Draw(rt, "offers")
		// A generator of its own tells rapid what makes up a call, so that it leaves out those that are no part of a fault.
		call := rapid.Custom(p.play)
		var tr trace
		for !p.done && len(tr) < callsPerCheck {
			tr = append(tr, call.Draw(rt, "call"))
		}
		return tr
	})
}
