package ratelimittest

import (
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// model is what a Store should be, in rational numbers and without regard to speed. Times are in microseconds since 1970.
type model struct {
	now     int64
	buckets map[bucketName]remembered
}

type bucketName struct {
	key, name string
	algorithm ratelimit.Algorithm
}

// remembered is a bucket in the model's memory.
type remembered struct {
	state
	full int64           // when it is forgotten, being as new ...
	by   ratelimit.Limit // ... by this limit
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
	return standings[c.Limit.Algorithm](b.state, c.Limit, m.now)
}

func (m *model) answer(b standing, c ratelimit.Charge) ratelimit.Result {
	r := ratelimit.Result{Limit: c.Limit.Capacity(), Remaining: max(0, b.left()), ResetAfter: micros(b.reset())}
	switch {
	case c.Cost > r.Limit:
		r.RetryAfter = ratelimit.Never
	case c.Cost > 0:
		r.RetryAfter = micros(max(0, b.retry(c.Cost)))
	}
	r.Allowed = r.RetryAfter == 0
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
		b.take(c.Cost)
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
		known, ok := m.buckets[name]
		if !ok || m.now >= known.full {
			continue
		}
		if b := m.open(c); b.ahead() {
			m.save(b, c)
		} else if full := m.now + results[i].ResetAfter.Microseconds(); full > known.full {
			known.full, known.by = full, c.Limit
			m.buckets[name] = known
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
		if c.Cost > 0 {
			b := m.open(c)
			b.refund(c.Cost)
			m.save(b, c)
		}
	}
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
	m.buckets[nameOf(c)] = remembered{state: b.remember(), full: m.now + b.reset(), by: c.Limit}
}
