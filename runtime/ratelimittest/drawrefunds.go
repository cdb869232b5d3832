package ratelimittest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// taken is a charge that was admitted.
type taken struct {
	charge ratelimit.Charge
	at     time.Duration
	turn   int64 // of a caller that has to wait, when it goes on
}

// note remembers what a call took. It goes on when the latest of its turns has come.
func (p *player) note(a action) {
	var delay time.Duration
	for _, r := range a.want {
		if !r.Allowed {
			return
		}
		delay = max(delay, r.Delay)
	}
	for i, c := range a.charges {
		took := taken{charge: c, at: a.want[i].At}
		if a.want[i].Delay > 0 {
			took.turn = p.now + delay.Microseconds()
		}
		if c.Cost > 0 {
			p.taken = append(p.taken, took)
		}
	}
}

// drawTaken draws a caller, preferably one of the last, that gives back what it took. It gives up waiting, if its turn has
// not come.
func (p *player) drawTaken(rt *rapid.T) ratelimit.Charge {
	i := len(p.taken) - 1 - rapid.IntRange(0, len(p.taken)-1).Draw(rt, "caller")
	took := p.taken[i]
	p.taken = slices.Delete(p.taken, i, i+1)
	c := p.asForgotten(took.charge)
	c.Taken, c.Delay = took.at, max(0, micros(took.turn-p.now))
	if ratelimit.CheckCharges([]ratelimit.Charge{c}) != nil { // the clock was set back by more than anybody waits
		c.Delay = 0
	}
	return c
}

// drawWhen draws when the units of a refund were taken, preferably at a time when some of that bucket were.
func (p *player) drawWhen(rt *rapid.T, c ratelimit.Charge) time.Duration {
	var times []time.Duration
	for _, took := range p.taken {
		if nameOf(took.charge) == nameOf(c) {
			times = append(times, took.at)
		}
	}
	now, period := micros(p.now), c.Limit.Period
	switch rapid.IntRange(0, 10).Draw(rt, "taken") {
	default:
		if len(times) > 0 {
			return times[len(times)-1-rapid.IntRange(0, len(times)-1).Draw(rt, "take")]
		}
		return 0
	case 4, 5:
		return 0
	case 6:
		return now - period
	case 7:
		return now - period + us
	case 8:
		return now - micros(rapid.Int64Range(0, 3*period.Microseconds()).Draw(rt, "microseconds"))
	case 9:
		return micros(rapid.Int64Range(1, p.now).Draw(rt, "any time"))
	case 10:
		return now + us
	}
}
