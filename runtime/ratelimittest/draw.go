package ratelimittest

import (
	"math"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// player draws the calls of a trace one after the other, in view of how the model stands.
type player struct {
	*model
	direction direction
	renews    bool
	offers    []ratelimit.Charge // the limits and waits of the trace
	last      ratelimit.Result   // the last answer
	turns     []turn             // of callers that wait, or waited
}

// turn is when a charge, which is allowed after a delay, has its turn.
type turn struct {
	charge ratelimit.Charge
	at     int64
}

// play draws a call.
func (p *player) play(rt *rapid.T) action {
	a := action{pause: p.drawPause(rt)}
	p.now += a.pause.Microseconds()
	p.forget()
	a.do = rapid.SampledFrom([]string{"take", "take", "take", "take", "take", "take", "peek", "peek", "refund", "refund", "renew", "reset"}).Draw(rt, "do")
	if a.do == "renew" && !p.renews {
		a.do = "take"
	}
	a.charges = p.drawCharges(rt, a.do)
	switch a.do {
	case "take":
		a.want = p.take(a.charges)
		p.checkRetry(rt, a)
		p.await(a)
	case "peek":
		a.want = p.peek(a.charges)
	case "refund":
		a.lost = p.refund(a.charges)
	case "renew":
		a.want = p.renew(a.charges)
	case "reset":
		p.reset(a.charges)
	}
	if a.do != "renew" && len(a.want) > 0 {
		p.last = a.want[0]
	}
	return a
}

// await remembers the turns of a call that has to wait: it goes on when the latest of them has come.
func (p *player) await(a action) {
	var delay time.Duration
	for _, r := range a.want {
		if !r.Allowed {
			return
		}
		delay = max(delay, r.Delay)
	}
	for i, c := range a.charges {
		if a.want[i].Delay > 0 {
			p.turns = append(p.turns, turn{c, p.now + delay.Microseconds()})
		}
	}
}

// drawOffer draws a limit, and how long callers wait for their turn.
func drawOffer() *rapid.Generator[ratelimit.Charge] {
	number := rapid.OneOf(
		rapid.SampledFrom([]int64{1, 2, 3, 7, 10, 1000, 65535, 1_000_000, 999_999_999, 1_000_000_000}),
		rapid.Int64Range(1, 100),
		rapid.Int64Range(1, 1_000_000_000),
	)
	period := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{ms, s, 13 * s, time.Minute, h, 24 * h, 366 * 24 * h, 87600 * h}),
		rapid.Map(rapid.Int64Range(1000, 10_000_000), micros),
		rapid.Map(rapid.Int64Range(1000, 315_360_000_000_000), micros),
	)
	return rapid.Custom(func(rt *rapid.T) ratelimit.Charge {
		l := ratelimit.Limit{Count: number.Draw(rt, "count"), Period: period.Draw(rt, "period")}
		switch rapid.IntRange(0, 12).Draw(rt, "kind") {
		case 0:
			l.Algorithm = ratelimit.FixedWindow
		case 1, 2:
			l.Algorithm = ratelimit.SlidingWindow
		case 3, 4, 5:
			l.Algorithm = ratelimit.LeakyBucket
		case 6, 7:
			l.Algorithm = ratelimit.SlidingLog
		case 8, 9:
			l.Algorithm = ratelimit.Concurrency
			if l.Count > 1000 { // nobody takes so many
				l.Count %= 10
			}
		case 10:
			l.Refill = ratelimit.Interval
		}
		c := ratelimit.Charge{Limit: l}
		if l.Algorithm == ratelimit.TokenBucket || l.Algorithm == ratelimit.LeakyBucket {
			if rapid.Bool().Draw(rt, "has burst") {
				c.Limit.Burst = number.Draw(rt, "burst")
			}
			c.Wait = drawWait(rt, c.Limit)
		}
		return c
	}).Filter(func(c ratelimit.Charge) bool { return ratelimit.CheckCharges([]ratelimit.Charge{c}) == nil })
}

// drawWait draws how long to wait for a turn, preferably for a few units.
func drawWait(rt *rapid.T, l ratelimit.Limit) time.Duration {
	unit := max(us, l.Period/time.Duration(l.Count)).Truncate(us)
	switch rapid.IntRange(0, 7).Draw(rt, "wait") {
	default:
		return 0
	case 3:
		return us
	case 4:
		return unit
	case 5:
		return unit * time.Duration(rapid.IntRange(1, 10).Draw(rt, "turns"))
	case 6:
		return l.Period
	case 7:
		return micros(rapid.Int64Range(1, 2*l.Period.Microseconds()).Draw(rt, "microseconds"))
	}
}

// drawPause draws a time to the next call, preferably one at which something happens.
func (p *player) drawPause(rt *rapid.T) time.Duration {
	limit := rapid.SampledFrom(p.offers).Draw(rt, "limit of the pause").Limit
	period := limit.Period
	var pause time.Duration
	switch rapid.IntRange(0, 13).Draw(rt, "pause") {
	default:
	case 4:
		pause = us
	case 5:
		pause = p.last.ResetAfter
	case 6:
		pause = p.last.RetryAfter
	case 7:
		pause = p.last.RetryAfter - us
	case 8:
		pause = period
	case 9:
		pause = period / 3
	case 10:
		pause = micros(rapid.Int64Range(0, 2*period.Microseconds()).Draw(rt, "microseconds"))
	case 11:
		pause = rapid.SampledFrom([]time.Duration{ms, s, h, 87600 * h}).Draw(rt, "long pause")
	case 12:
		pause = p.last.Delay
	case 13:
		pause = period / 1_000_000 // a tick of a log
	}
	if pause < 0 || pause > maxSpan {
		pause = 0
	}
	if p.direction == forwardsAndBack && rapid.IntRange(0, 4).Draw(rt, "back") == 0 {
		pause = -pause
		for _, b := range p.buckets {
			if p.now >= b.full { // a Store may or may not have forgotten it, and neither shows unless time goes back
				pause = 0
			}
		}
	}
	if then := micros(p.now-start) + pause; then > maxSpan || then < -maxSpan/10 {
		return 0
	}
	return pause.Truncate(us)
}

// drawCharges draws charges of different buckets.
func (p *player) drawCharges(rt *rapid.T, do string) []ratelimit.Charge {
	if do == "refund" && len(p.turns) > 0 && rapid.Bool().Draw(rt, "gives up waiting") {
		return []ratelimit.Charge{p.drawTurn(rt)}
	}
	names := [][2]string{{"a", "x"}, {"a", "y"}, {"b", "x"}}
	set := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 4, 3, 5, 7}).Draw(rt, "buckets")
	var charges []ratelimit.Charge
	for i, n := range names {
		if set>>i&1 == 0 {
			continue
		}
		c := rapid.SampledFrom(p.offers).Draw(rt, "limit")
		c.Key, c.Name = []byte(n[0]), n[1]
		if do == "renew" && c.Limit.Algorithm != ratelimit.Concurrency {
			continue
		}
		if b, ok := p.buckets[nameOf(c)]; ok && p.now >= b.full { // not yet forgotten by all
			c.Limit, c.Wait = b.by.Limit, b.by.Wait
		}
		if c.Limit.Algorithm == ratelimit.Concurrency {
			c.Holder = rapid.SampledFrom([]string{"a", "b", "2"}).Draw(rt, "holder")
		}
		c.Cost = p.drawCost(rt, do, c)
		if do == "refund" && c.Wait > 0 {
			c.Delay = rapid.SampledFrom([]time.Duration{0, 0, us, p.last.Delay, c.Wait / 2, c.Wait}).Draw(rt, "delay").Truncate(us)
		}
		if ratelimit.CheckCharges([]ratelimit.Charge{c}) != nil { // the last delay may be that of another limit
			c.Delay = 0
		}
		charges = append(charges, c)
	}
	return charges
}

// drawTurn draws a caller that gives up waiting, if its turn has not come.
func (p *player) drawTurn(rt *rapid.T) ratelimit.Charge {
	i := rapid.IntRange(0, len(p.turns)-1).Draw(rt, "turn")
	waiter := p.turns[i]
	p.turns = append(p.turns[:i:i], p.turns[i+1:]...)
	c := waiter.charge
	if b, ok := p.buckets[nameOf(c)]; ok && p.now >= b.full { // not yet forgotten by all
		c.Limit, c.Wait = b.by.Limit, b.by.Wait
	}
	c.Delay = max(0, micros(waiter.at-p.now))
	if ratelimit.CheckCharges([]ratelimit.Charge{c}) != nil { // the clock was set back by more than anybody waits
		c.Delay = 0
	}
	return c
}

func (p *player) drawCost(rt *rapid.T, do string, c ratelimit.Charge) int64 {
	capacity := c.Limit.Capacity()
	left := max(0, p.open(c).left())
	var cost int64
	switch rapid.IntRange(0, 9).Draw(rt, "cost") {
	default:
		cost = 1
	case 3:
		cost = 0
	case 4:
		cost = left
	case 5:
		cost = left + 1
	case 6:
		cost = capacity - left
	case 7:
		cost = rapid.Int64Range(1, capacity).Draw(rt, "units")
	case 8:
		cost = capacity
	case 9:
		cost = rapid.SampledFrom([]int64{capacity + 1, math.MaxInt64}).Draw(rt, "too much")
	}
	if c.Limit.Algorithm == ratelimit.Concurrency && (cost <= capacity || do != "take" && do != "peek") {
		const slots = 12 // at once: a Store remembers each
		cost = min(cost, slots)
	}
	return cost
}

// checkRetry checks that the model keeps the promise of RetryAfter: a refused call that waits as long as the longest of
// its limits says is allowed, if it then waits for its turn as long as it would, and one microsecond earlier it is not.
func (p *player) checkRetry(rt *rapid.T, a action) {
	var retry time.Duration
	for _, r := range a.want {
		retry = max(retry, r.RetryAfter)
	}
	if retry == 0 || retry == ratelimit.Never {
		return
	}
	now := p.now
	defer func() { p.now = now }()
	for _, early := range []int64{0, 1} {
		p.now = now + retry.Microseconds() - early
		allowed := true
		for i, r := range p.peek(a.charges) {
			allowed = allowed && r.Allowed
			if early == 0 && a.want[i].RetryAfter == retry && r.Delay != a.charges[i].Wait {
				rt.Fatalf("%v: delay %v after %v", trace{a}, r.Delay, retry)
			}
		}
		if allowed != (early == 0) {
			rt.Fatalf("%v: allowed %v after %v less %dµs", trace{a}, allowed, retry, early)
		}
	}
}
