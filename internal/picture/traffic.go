package picture

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// phase is a part of the traffic: calls that follow each other at equal distances.
type phase struct {
	name  string
	from  time.Duration
	calls int
	every time.Duration
}

// traffic is what each limit is asked for. A first call opens windows, so that two bursts stand on both sides of an edge:
// that of a fixed window is a second after it, at 1.1 s, and that of a sliding window at 1 s.
var traffic = []phase{
	{"1", 100 * time.Millisecond, 1, 0},
	{"15", 900 * time.Millisecond, 15, time.Millisecond},
	{"15", 1200 * time.Millisecond, 15, time.Millisecond},
	{"20 a second", 1500 * time.Millisecond, 50, 50 * time.Millisecond},
	{"15", 5200 * time.Millisecond, 15, time.Millisecond},
}

const (
	count  = 10
	period = time.Second
	span   = 6 * time.Second        // what the picture shows
	lasts  = 400 * time.Millisecond // how long an admitted call lasts
	lease  = 30 * time.Second
)

// call is one of the traffic.
type call struct {
	at       time.Duration
	admitted bool
}

// play makes the calls of the traffic under a limit, in the memory of a process that has just started. It takes as long as
// the traffic lasts.
func play(limit ratelimit.Limit) ([]call, error) {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		return nil, err
	}
	guard := limiter.Guard("picture", ratelimit.Rule{Key: "picture", Limit: limit})
	ctx, start := context.Background(), time.Now()
	var calls []call
	var running []*ratelimit.Call
	var ends []time.Duration // of the running ones
	until := func(t time.Duration) { time.Sleep(t - time.Since(start)) }
	endBy := func(t time.Duration) {
		for len(ends) > 0 && ends[0] <= t {
			until(ends[0])
			running[0].End()
			running, ends = running[1:], ends[1:]
		}
	}
	for _, p := range traffic {
		for i := range p.calls {
			at := p.from + time.Duration(i)*p.every
			endBy(at)
			until(at)
			c, err := guard.Begin(ctx)
			switch {
			case err == nil:
				running, ends = append(running, c), append(ends, at+lasts)
			case !errors.Is(err, ratelimit.ErrLimited):
				return nil, err
			}
			calls = append(calls, call{at: at, admitted: err == nil})
		}
	}
	endBy(span)
	until(span) // so that the next row, too, begins with a second
	return calls, nil
}

// level is how many of the admitted calls count, from a time on.
type level struct {
	from  time.Duration
	calls int
}

// levels returns how many admitted calls are younger than age, for all times from the first call on.
func levels(calls []call, age time.Duration) []level {
	steps := map[time.Duration]int{}
	for _, c := range calls {
		if c.admitted {
			steps[c.at]++
			steps[c.at+age]--
		}
	}
	all := []level{{}}
	for _, t := range slices.Sorted(maps.Keys(steps)) {
		all = append(all, level{t, all[len(all)-1].calls + steps[t]})
	}
	return all
}

// highest returns the most calls of all levels, and the first time of that many.
func highest(levels []level) (most int, at time.Duration) {
	for _, l := range levels {
		if l.calls > most {
			most, at = l.calls, l.from
		}
	}
	return most, at
}
