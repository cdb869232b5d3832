package ratelimittest

import (
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

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

// checkUndo checks that in the model a refund at once undoes a take: all answers are as before.
func (p *player) checkUndo(rt *rapid.T, a action) {
	buckets := p.buckets
	defer func() { p.buckets = buckets }()
	p.buckets = maps.Clone(buckets)

	before, back, exact := p.peek(a.charges), slices.Clone(a.charges), make([]bool, len(a.charges))
	for i, c := range a.charges {
		exact[i] = undoes(p.open(c))
	}
	for i, r := range p.take(a.charges) {
		if !r.Allowed {
			return
		}
		back[i].Taken = r.At
	}
	p.refund(back)
	for i, r := range p.peek(a.charges) {
		if exact[i] && r != before[i] {
			rt.Fatalf("%v: charge %d, given back at once:\n got %s\nwant %s", trace{a}, i, show(r), show(before[i]))
		}
	}
}

// undoes reports whether a refund of what the charge takes leaves nothing behind: no lease that begins anew, and no entry
// that a call of the same tick made later.
func undoes(b standing) bool {
	switch b := b.(type) {
	case *leased:
		return b.holds() == 0
	case *recorded:
		last := len(b.log) - 1
		return last < 0 || b.log[last].at == b.now || b.tick(b.log[last].at) != b.tick(b.now)
	}
	return true
}
