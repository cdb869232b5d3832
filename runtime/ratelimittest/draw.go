package ratelimittest

import (
	"math"
	"slices"
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
	taken     []taken            // what may be given back
	done      bool               // whether the trace ends here
}

// play draws a call.
func (p *player) play(rt *rapid.T) action {
	p.done = drawEnd(rt)
	a := action{pause: p.drawPause(rt)}
	p.now += a.pause.Microseconds()
	p.forget()
	a.do = rapid.SampledFrom([]string{
		"take", "take", "take", "take", "take", "take", "peek", "peek", "refund", "refund", "renew", "reset",
	}).Draw(rt, "do")
	if a.do == "renew" && (!p.renews || !slices.ContainsFunc(p.offers, forSlots)) {
		a.do = "take"
	}
	a.charges = p.drawCharges(rt, a.do)
	switch a.do {
	case "take":
		p.checkUndo(rt, a)
		a.want = p.take(a.charges)
		p.checkRetry(rt, a)
		p.note(a)
	case "peek":
		a.want = p.peek(a.charges)
	case "refund":
		p.leaveForgotten(a.charges)
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

// drawEnd draws true one time in 64. A number that rapid draws would be a small one more often than not.
func drawEnd(rt *rapid.T) bool {
	for range 6 {
		if !rapid.Bool().Draw(rt, "ends") {
			return false
		}
	}
	return true
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
	algorithm := rapid.SampledFrom([]ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.SlidingLog, ratelimit.Concurrency, ratelimit.TokenBucket,
		ratelimit.LeakyBucket, ratelimit.SlidingWindow, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.Concurrency,
	})
	return rapid.Custom(func(rt *rapid.T) ratelimit.Charge {
		l := ratelimit.Limit{Algorithm: algorithm.Draw(rt, "algorithm"), Count: number.Draw(rt, "count"), Period: period.Draw(rt, "period")}
		var wait time.Duration
		switch l.Algorithm {
		case ratelimit.TokenBucket, ratelimit.LeakyBucket:
			if rapid.Bool().Draw(rt, "has burst") {
				l.Burst = number.Draw(rt, "burst")
			}
			if l.Algorithm == ratelimit.TokenBucket && rapid.Bool().Draw(rt, "in intervals") {
				l.Refill = ratelimit.Interval
			}
			wait = drawWait(rt, l)
		case ratelimit.SlidingLog:
			if rapid.Bool().Draw(rt, "in ticks") {
				l.Count = min(1_000_000+l.Count%1_000_000, l.Period.Microseconds())
			}
		case ratelimit.Concurrency:
			if l.Count > 1000 { // nobody takes so many
				l.Count = 1 + l.Count%10
			}
		}
		return ratelimit.Charge{Limit: l, Wait: wait}
	}).Filter(func(c ratelimit.Charge) bool { return ratelimit.CheckCharges([]ratelimit.Charge{c}) == nil })
}

// drawWait draws how long to wait for a turn, preferably for a few units.
func drawWait(rt *rapid.T, l ratelimit.Limit) time.Duration {
	unit := max(us, l.Period/time.Duration(l.Count)).Truncate(us)
	switch rapid.IntRange(0, 6).Draw(rt, "wait") {
	default:
		return 0
	case 2:
		return unit
	case 3:
		return unit * time.Duration(rapid.IntRange(1, 10).Draw(rt, "turns"))
	case 4:
		return l.Period
	case 5:
		return us
	case 6:
		return micros(rapid.Int64Range(1, 2*l.Period.Microseconds()).Draw(rt, "microseconds"))
	}
}

// drawOtherWait draws how long a call waits, often not as long as others of its bucket.
func drawOtherWait(rt *rapid.T, c ratelimit.Charge) time.Duration {
	wait := c.Wait
	switch c.Limit.Algorithm {
	case ratelimit.TokenBucket, ratelimit.LeakyBucket:
		if rapid.Bool().Draw(rt, "as the others") {
			return wait
		}
		c.Wait = drawWait(rt, c.Limit)
		if ratelimit.CheckCharges([]ratelimit.Charge{c}) == nil {
			return c.Wait
		}
	}
	return wait
}

// drawPause draws a time to the next call, preferably one at which something happens.
func (p *player) drawPause(rt *rapid.T) time.Duration {
	period := rapid.SampledFrom(p.offers).Draw(rt, "limit of the pause").Limit.Period
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
		pause = period / 3_000_000 // a third of a log's tick
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
	if do == "refund" && len(p.taken) > 0 && rapid.Bool().Draw(rt, "what was taken") {
		return []ratelimit.Charge{p.drawTaken(rt)}
	}
	names := [][2]string{{"a", "x"}, {"a", "y"}, {"b", "x"}}
	offers := slices.DeleteFunc(slices.Clone(p.offers), func(c ratelimit.Charge) bool { return do == "renew" && !forSlots(c) })
	set := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 4, 3, 5, 7}).Draw(rt, "buckets")
	var charges []ratelimit.Charge
	for i, n := range names {
		if set>>i&1 == 0 {
			continue
		}
		c := rapid.SampledFrom(offers).Draw(rt, "limit")
		c.Wait = drawOtherWait(rt, c)
		c.Key, c.Name = []byte(n[0]), n[1]
		c = p.asForgotten(c)
		if forSlots(c) {
			c.Holder = rapid.SampledFrom([]string{"a", "b", "2"}).Draw(rt, "holder")
		}
		c.Cost = p.drawCost(rt, c)
		if do == "refund" {
			c.Taken = p.drawWhen(rt, c)
		}
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

// asForgotten returns the charge, with the limit by which its bucket is as new if a Store may not have forgotten it yet.
func (p *player) asForgotten(c ratelimit.Charge) ratelimit.Charge {
	if b, ok := p.buckets[nameOf(c)]; ok && p.now >= b.full {
		c.Limit, c.Wait = b.by.Limit, b.by.Wait
	}
	return c
}

// leaveForgotten makes refunds to token buckets that a Store may not have forgotten yet none. What a refused call capped is
// still there uncapped, and a refund would keep it.
func (p *player) leaveForgotten(charges []ratelimit.Charge) {
	for i, c := range charges {
		if b, ok := p.buckets[nameOf(c)]; ok && p.now >= b.full && c.Limit.Algorithm == ratelimit.TokenBucket {
			charges[i].Cost = 0
		}
	}
}

// forSlots reports whether a charge is for slots of a concurrency limit.
func forSlots(c ratelimit.Charge) bool { return c.Limit.Algorithm == ratelimit.Concurrency }

func (p *player) drawCost(rt *rapid.T, c ratelimit.Charge) int64 {
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
	if forSlots(c) && cost <= capacity {
		cost = min(cost, rapid.SampledFrom([]int64{12, 12, 12, 1000}).Draw(rt, "slots")) // a Store remembers each
	}
	return cost
}
