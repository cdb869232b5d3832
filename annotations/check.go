package annotations

import (
	"math/bits"
	"slices"
	"strings"
	"time"
)

const (
	defaultPeriod = time.Second

	// defaultLease is how long a slot of Concurrency lasts when its holder dies.
	defaultLease = 30 * time.Second

	// maxPerMicrosecond is because Redis has no time below a microsecond.
	maxPerMicrosecond = 1

	// maxDebt is how many units a bucket may be charged in advance by callers who wait for their turn: it is what stores
	// keep exact.
	maxDebt = 1_000_000_000

	// maxSlots is because each slot of a call is kept, and renewed, by itself.
	maxSlots = 1000

	// maxFill is how long an empty bucket may take to be full, so that its times stay exact in a Lua number.
	maxFill = 36500 * day
)

// checkComplete reports what must be written and is not.
func (d *directive) checkComplete() {
	if !d.meant["count"] && !d.meant["rate"] {
		d.errs.add(0, "count is missing: write count=5, or rate=5/s")
	}
}

// check fills in the defaults and checks the attributes against each other. An attribute with a mistake of its own has
// left its field zero, and is in no check.
func (d *directive) check() {
	a := d.annotation
	d.defaults()
	d.checkRate()
	d.checkAlgorithm()
	d.checkRefund()
	d.checkFree()
	if a.Count == 0 {
		return
	}
	d.checkPrefetch()
	d.checkCost()
	if a.Algorithm != "" && a.Period != 0 {
		d.checkSpeed()
		d.checkFill()
		d.checkWait()
	}
}

func (d *directive) defaults() {
	a := d.annotation
	if !a.Has("algorithm") {
		a.Algorithm = TokenBucket
	}
	if !a.Has("refill") && a.Algorithm == TokenBucket {
		a.Refill = Greedy
	}
	if !a.Has("time") && !a.Has("rate") {
		a.Period, a.PeriodText = defaultPeriod, "1s"
		if a.Algorithm == Concurrency {
			a.Period, a.PeriodText = defaultLease, "30s"
		}
	}
	if !a.Has("cost") {
		a.Cost = 1
	}
	if !a.Has("name") {
		a.Name = a.PeriodText
	}
}

// checkRate reports what is written beside rate and says the same.
func (d *directive) checkRate() {
	a := d.annotation
	for _, name := range []string{"count", "time"} {
		if a.Has("rate") && a.Has(name) {
			d.errs.add(a.Offset(name), "%s beside rate: want rate alone, or count and time", name)
		}
	}
	if a.Has("rate") && a.Algorithm == Concurrency {
		d.errs.add(a.Offset("rate"), "rate with algorithm=%s: want count=, the slots, and time= for a lease other than %v", Concurrency, defaultLease)
	}
}

// checkAlgorithm reports the attributes that the algorithm does not take.
func (d *directive) checkAlgorithm() {
	a := d.annotation
	for _, attr := range a.attributes {
		takenBy := lookup(attr.name).takenBy
		if a.Algorithm != "" && takenBy != nil && !slices.Contains(takenBy, a.Algorithm) {
			d.errs.add(attr.offset, "%s with algorithm=%s: want %s", attr.name, a.Algorithm, list(takenBy))
		}
	}
}

// checkSpeed reports a limit that is faster than the clock.
func (d *directive) checkSpeed() {
	a := d.annotation
	most := a.Period.Microseconds() * maxPerMicrosecond
	if a.Algorithm == Concurrency || a.Count <= most {
		return
	}
	attr := a.find("count")
	if attr == nil {
		attr = a.find("rate")
	}
	d.errs.add(attr.value.offset, "%s=%s: more than 1000000 a second: want at most %d per %s",
		attr.name, show(attr.value.text), most, a.PeriodText)
}

// checkFill reports a bucket that takes too long to fill: the time is Burst times Period, by Count, and the product
// needs more than 64 bits.
func (d *directive) checkFill() {
	a := d.annotation
	if !slices.Contains(lookup("burst").takenBy, a.Algorithm) {
		return
	}
	period := uint64(a.Period.Microseconds())
	fillHigh, fillLow := bits.Mul64(uint64(a.Burst), period)
	mostHigh, mostLow := bits.Mul64(uint64(a.Count), uint64(maxFill.Microseconds()))
	if fillHigh < mostHigh || fillHigh == mostHigh && fillLow <= mostLow {
		return
	}
	most, _ := bits.Div64(mostHigh, mostLow, period) // below Burst, so it does not overflow
	d.errs.add(a.ValueOffset("burst"), "burst=%d: fills in more than 100 years at %d per %s: want at most %d",
		a.Burst, a.Count, a.PeriodText, most)
}

// checkPrefetch reports units that cannot be taken in advance, and those that would be given to whoever comes first while others
// wait for their turn.
func (d *directive) checkPrefetch() {
	a := d.annotation
	if a.Has("prefetch") && a.Has("wait") {
		d.errs.add(a.Offset("prefetch"), "prefetch with wait: want one of them, units that are taken in advance know of no turns")
	}
	most, name := a.Count, "count"
	if a.Has("burst") && a.Burst < a.Count {
		most, name = a.Burst, "burst"
	}
	switch {
	case a.Prefetch == 0 || most == 0: // or broken
	case most == 1:
		d.errs.add(a.ValueOffset("prefetch"), "prefetch=%d: want none, the %s is 1", a.Prefetch, name)
	case a.Prefetch > most:
		d.errs.add(a.ValueOffset("prefetch"), "prefetch=%d: want 2 to the %s, %d", a.Prefetch, name, most)
	case a.Cost > a.Prefetch && a.Cost <= most:
		d.errs.add(a.ValueOffset("prefetch"), "prefetch=%d: want at least the cost, %d, which a call takes at once anyway", a.Prefetch, a.Cost)
	}
}

// checkCost reports a call that can never be allowed.
func (d *directive) checkCost() {
	a := d.annotation
	capacity := a.Count
	if a.Has("burst") {
		capacity = a.Burst
	}
	if capacity > 0 && a.Cost > capacity {
		d.errs.add(a.ValueOffset("cost"), "cost=%d: want 0 to the capacity, %d", a.Cost, capacity)
		return
	}
	if a.Algorithm == Concurrency && a.Cost > maxSlots {
		d.errs.add(a.ValueOffset("cost"), "cost=%d: want 0 to %d slots a call", a.Cost, maxSlots)
	}
}

// checkRefund reports a refund of what comes back anyway.
func (d *directive) checkRefund() {
	if a := d.annotation; a.Has("refund") && a.Algorithm == Concurrency {
		d.errs.add(a.Offset("refund"), "refund with algorithm=%s: want none, a call gives its slots back when it ends", Concurrency)
	}
}

// checkFree reports what has no effect on calls that take nothing.
func (d *directive) checkFree() {
	a := d.annotation
	if cost := a.find("cost"); cost == nil || cost.broken || a.CostExpr != nil || a.Cost != 0 || strings.Trim(cost.value.text, "0") != "" {
		return
	}
	if a.Has("refund") {
		d.errs.add(a.Offset("refund"), "refund with cost=0: want none, a call takes nothing that could come back")
	}
	if a.Has("wait") {
		d.errs.add(a.Offset("wait"), "wait with cost=0: want none, such a call is never refused")
	}
	if a.Has("prefetch") {
		d.errs.add(a.Offset("prefetch"), "prefetch with cost=0: want none, a call takes nothing that could be taken in advance")
	}
}

// checkWait reports a wait so long that more callers could be waiting than a bucket can count. Other algorithms than those
// with a burst keep no places for them.
func (d *directive) checkWait() {
	a := d.annotation
	if !slices.Contains(lookup("burst").takenBy, a.Algorithm) {
		return
	}
	count, period := uint64(a.Count), uint64(a.Period.Microseconds())
	high, low := bits.Mul64(maxDebt+1, period) // more units than this come back in too long a wait, times Period
	if waitHigh, waitLow := bits.Mul64(uint64(a.Wait.Microseconds()), count); waitHigh < high || waitHigh == high && waitLow < low {
		return
	}
	longest, _ := bits.Div64(high, low-1, count)
	most := time.Duration(longest) * time.Microsecond
	if most = most.Truncate(time.Millisecond); most > time.Second {
		most = most.Truncate(time.Second)
	}
	d.errs.add(a.ValueOffset("wait"), "wait=%s: %d per %s come to more than %d in that time: want at most %v",
		show(a.find("wait").value.text), a.Count, a.PeriodText, maxDebt, most)
}
