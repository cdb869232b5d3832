package ratelimittest

import (
	"maps"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// model is what a Store should be, in rational numbers and without regard to speed. Times are in microseconds since 1970.
type model struct {
	now     int64
	order   order
	buckets map[bucketName]remembered
}

type bucketName struct {
	key, name string
	algorithm ratelimit.Algorithm
}

// remembered is a bucket in the model's memory.
type remembered struct {
	state
	full int64            // when it is forgotten, being as new ...
	by   ratelimit.Charge // ... by the limit, and the wait, of this charge
}

func nameOf(c ratelimit.Charge) bucketName {
	return bucketName{string(c.Key), c.Name, c.Limit.Algorithm}
}

// open returns the bucket of a charge as it stands.
func (m *model) open(c ratelimit.Charge) standing {
	b := m.buckets[nameOf(c)]
	if m.now >= b.full {
		b.state = state{mark: m.now}
	}
	return standings[c.Limit.Algorithm](b.state, c, m.now)
}

// openAll is open with all that was charged in advance, also by those who wait for longer than this charge: whoever does
// not take keeps their turns.
func (m *model) openAll(c ratelimit.Charge) standing {
	c.Wait = longestWait
	return m.open(c)
}

// look returns how a bucket stands.
func (m *model) look(b standing, c ratelimit.Charge) ratelimit.Result {
	return ratelimit.Result{Limit: c.Limit.Capacity(), Remaining: max(0, b.left()), ResetAfter: micros(b.reset()), At: micros(m.now)}
}

// decide returns what a bucket answers to a charge.
func (m *model) decide(b standing, c ratelimit.Charge) ratelimit.Result {
	r := m.look(b, c)
	switch {
	case c.Cost > r.Limit:
		r.RetryAfter = ratelimit.Never
	case c.Cost > 0:
		r.Delay = max(0, micros(b.retry()))
	}
	if r.Delay > c.Wait {
		r.Delay, r.RetryAfter = 0, r.Delay-c.Wait
	}
	r.Allowed = r.RetryAfter == 0
	return r
}

func (m *model) take(charges []ratelimit.Charge) []ratelimit.Result {
	if m.order == byKey {
		return m.takeByKey(charges)
	}
	return m.takeAtOnce(charges)
}

func (m *model) takeAtOnce(charges []ratelimit.Charge) []ratelimit.Result {
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
		b.take()
		delay := results[i].Delay
		results[i] = m.look(b, c)
		results[i].Allowed, results[i].Delay = true, delay
		m.save(b, c)
	}
	return results
}

// refuse does what a refused call may do: it sees to it that the bucket is remembered for as long as it says, and that
// no state lies in the future.
func (m *model) refuse(charges []ratelimit.Charge, results []ratelimit.Result) {
	for i, c := range charges {
		if known, ok := m.buckets[nameOf(c)]; !ok || m.now >= known.full {
			continue
		}
		if b := m.openAll(c); b.ahead() {
			m.save(b, c)
		} else {
			m.extend(c, m.now+results[i].ResetAfter.Microseconds())
		}
	}
}

func (m *model) peek(charges []ratelimit.Charge) []ratelimit.Result {
	results := make([]ratelimit.Result, len(charges))
	for i, c := range charges {
		results[i] = m.decide(m.open(c), c)
	}
	return results
}

// refund reports whether a holder has lost its lease.
func (m *model) refund(charges []ratelimit.Charge) (lost bool) {
	for _, c := range charges {
		if c.Cost == 0 {
			continue
		}
		b := m.openAll(c)
		if w, ok := b.(*leased); ok && w.holds() == 0 {
			lost = true
			continue
		}
		b.refund(max(0, c.Cost-m.behind(b, c)), m.whenTaken(c))
		m.save(b, c)
	}
	return lost
}

// whenTaken returns when the units that are given back were taken.
func (m *model) whenTaken(c ratelimit.Charge) int64 {
	if c.Taken == 0 {
		return m.now
	}
	return min(c.Taken.Microseconds(), m.now) // or the clock was set back
}

// behind returns how many units others wait for behind a caller who gives up waiting: what is owed still when its turn
// would have come.
func (m *model) behind(b standing, c ratelimit.Charge) int64 {
	if c.Delay == 0 {
		return 0
	}
	c.Wait = longestWait
	then := standings[c.Limit.Algorithm](b.remember(), c, m.now+c.Delay.Microseconds())
	return max(0, -then.left())
}

// renew returns, in Allowed, whether each lease was still held.
func (m *model) renew(charges []ratelimit.Charge) []ratelimit.Result {
	results := make([]ratelimit.Result, len(charges))
	for i, c := range charges {
		b := m.open(c).(*leased)
		results[i].Allowed = b.renew()
		if results[i].Allowed && c.Cost > 0 {
			full := m.buckets[nameOf(c)].full
			m.save(b, c)
			m.extend(c, full)
		}
	}
	return results
}

func (m *model) reset(charges []ratelimit.Charge) {
	for _, c := range charges {
		delete(m.buckets, nameOf(c))
	}
}

func (m *model) save(b standing, c ratelimit.Charge) {
	if b.reset() == 0 {
		delete(m.buckets, nameOf(c))
		return
	}
	m.buckets[nameOf(c)] = remembered{state: b.remember(), full: m.now + b.reset(), by: c}
}

// extend makes a bucket be remembered for longer.
func (m *model) extend(c ratelimit.Charge, full int64) {
	if known := m.buckets[nameOf(c)]; full > known.full {
		known.full, known.by = full, c
		m.buckets[nameOf(c)] = known
	}
}

// grace is how long a Store may remember a bucket that is as new, as Redis does, which counts in milliseconds. It can show
// only when the limit has changed meanwhile, or the clock was set back, and there the traces do not go.
const grace = 4 * time.Millisecond

// forget removes the buckets that no Store remembers.
func (m *model) forget() {
	maps.DeleteFunc(m.buckets, func(_ bucketName, b remembered) bool { return m.now >= b.full+grace.Microseconds() })
}
