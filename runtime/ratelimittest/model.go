package ratelimittest

import (
	"math/big"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// model is what a Store should be, in rational numbers and without regard to speed. Times are in microseconds.
type model struct {
	now     int64
	buckets map[bucketName]state
}

type bucketName struct {
	key, name string
	algorithm ratelimit.Algorithm
}

// state is what a bucket remembers. Of a unit that is on its way back a token bucket remembers part of the period.
type state struct {
	used, part int64
	mark       int64           // when this was so; the start of the window or of the period
	full       int64           // when it is forgotten, being as new ...
	by         ratelimit.Limit // ... by this limit
}

func nameOf(c ratelimit.Charge) bucketName {
	return bucketName{string(c.Key), c.Name, c.Limit.Algorithm}
}

// open returns the bucket of a charge as it stands.
func (m *model) open(c ratelimit.Charge) state {
	b, l := m.buckets[nameOf(c)], c.Limit
	asNew := state{mark: m.now}
	if m.now >= b.full {
		return asNew
	}
	b.mark = min(b.mark, m.now) // or the clock was set back
	elapsed, period := m.now-b.mark, l.Period.Microseconds()
	out := rat(b.used, 1)
	switch {
	case l.Algorithm == ratelimit.FixedWindow:
		if elapsed >= period {
			return asNew
		}
		return b
	case l.Refill == ratelimit.Interval:
		out = least(out, rat(l.Capacity(), 1))
		out.Sub(out, new(big.Rat).Mul(rat(elapsed/period, 1), rat(l.Count, 1)))
		b.mark += elapsed / period * period
	default:
		out.Sub(out, rat(min(b.part, period-1), period))
		out = least(out, rat(l.Capacity(), 1))
		out.Sub(out, new(big.Rat).Mul(rat(elapsed, 1), rat(l.Count, period)))
		b.mark = m.now
	}
	if out.Sign() <= 0 {
		return asNew
	}
	b.used = ceil(out)
	b.part = ceil(new(big.Rat).Mul(rat(period, 1), new(big.Rat).Sub(rat(b.used, 1), out)))
	return b
}

// wait returns the time until n units have come back to a bucket that stands at the time now.
func (m *model) wait(b state, l ratelimit.Limit, n int64) int64 {
	period := l.Period.Microseconds()
	switch {
	case l.Algorithm == ratelimit.FixedWindow:
		return b.mark + period - m.now
	case l.Refill == ratelimit.Interval:
		return b.mark + ceil(rat(n, l.Count))*period - m.now
	}
	lacking := new(big.Rat).Sub(rat(n, 1), rat(b.part, period))
	return ceil(lacking.Mul(lacking, rat(period, l.Count)))
}

func (m *model) answer(b state, c ratelimit.Charge) ratelimit.Result {
	r := ratelimit.Result{Limit: c.Limit.Capacity(), Remaining: max(0, c.Limit.Capacity()-b.used)}
	if b.used > 0 {
		r.ResetAfter = time.Duration(m.wait(b, c.Limit, b.used)) * us
	}
	switch {
	case c.Cost > r.Limit:
		r.RetryAfter = ratelimit.Never
	case c.Cost == 0 || b.used+c.Cost <= r.Limit:
		r.Allowed = true
	default:
		r.RetryAfter = time.Duration(m.wait(b, c.Limit, b.used+c.Cost-r.Limit)) * us
	}
	return r
}

func (m *model) take(charges []ratelimit.Charge) []ratelimit.Result {
	results := m.peek(charges)
	for _, r := range results {
		if !r.Allowed {
			m.refuse(charges, results)
			return results
		}
	}
	for i, c := range charges {
		if c.Cost == 0 {
			continue
		}
		b := m.open(c)
		b.used += c.Cost
		results[i] = m.answer(b, c)
		results[i].Allowed, results[i].RetryAfter = true, 0
		m.save(b, c)
	}
	return results
}

// refuse does what a refused call may do: it sees to it that the bucket is remembered for as long as it says, and that
// no state lies in the future.
func (m *model) refuse(charges []ratelimit.Charge, results []ratelimit.Result) {
	for i, c := range charges {
		name := nameOf(c)
		b, ok := m.buckets[name]
		if !ok || m.now >= b.full {
			continue
		}
		if b.mark > m.now {
			m.save(m.open(c), c)
		} else if full := m.now + results[i].ResetAfter.Microseconds(); full > b.full {
			b.full, b.by = full, c.Limit
			m.buckets[name] = b
		}
	}
}

func (m *model) peek(charges []ratelimit.Charge) []ratelimit.Result {
	results := make([]ratelimit.Result, len(charges))
	for i, c := range charges {
		results[i] = m.answer(m.open(c), c)
	}
	return results
}

func (m *model) refund(charges []ratelimit.Charge) {
	for _, c := range charges {
		if b := m.open(c); c.Cost > 0 {
			b.used = max(0, b.used-c.Cost)
			m.save(b, c)
		}
	}
}

func (m *model) reset(charges []ratelimit.Charge) {
	for _, c := range charges {
		delete(m.buckets, nameOf(c))
	}
}

func (m *model) save(b state, c ratelimit.Charge) {
	if b.used == 0 {
		delete(m.buckets, nameOf(c))
		return
	}
	b.full, b.by = m.now+m.wait(b, c.Limit, b.used), c.Limit
	m.buckets[nameOf(c)] = b
}

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

// ceil returns a number, rounded up.
func ceil(r *big.Rat) int64 {
	up := new(big.Int).Sub(r.Denom(), big.NewInt(1))
	return new(big.Int).Div(up.Add(up, r.Num()), r.Denom()).Int64()
}
