package ratelimittest

import (
	"maps"
	"slices"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// slot is one of the slots of a holder, who numbers them from 1 on.
type slot struct {
	holder string
	number int64
}

// leased is a concurrency limit.
type leased struct {
	leases map[slot]int64 // when each ends, also of those that have
	charge ratelimit.Charge
	now    int64
}

// concurrency: a slot is taken until its lease ends.
func concurrency(b state, c ratelimit.Charge, now int64) standing {
	w := &leased{leases: map[slot]int64{}, charge: c, now: now}
	maps.Copy(w.leases, b.leases)
	return w
}

// own reports whether the charge is for this slot.
func (w *leased) own(s slot) bool {
	return s.holder == w.charge.Holder && s.number <= w.charge.Cost
}

// ends returns when the leases end that have not yet, earliest first, of the slots that of holds for.
func (w *leased) ends(of func(slot) bool) []int64 {
	var ends []int64
	for s, end := range w.leases {
		if end > w.now && of(s) {
			ends = append(ends, end)
		}
	}
	slices.Sort(ends)
	return ends
}

func anyone(slot) bool               { return true }
func (w *leased) others(s slot) bool { return !w.own(s) }

func (w *leased) left() int64 { return w.charge.Limit.Count - int64(len(w.ends(anyone))) }

// retry is until enough of the others have gone: what the holder has of the slots already it does not wait for.
func (w *leased) retry() int64 {
	others := w.ends(w.others)
	lacking := w.charge.Cost - (w.charge.Limit.Count - int64(len(others)))
	if lacking <= 0 {
		return 0
	}
	return others[lacking-1] - w.now
}

func (w *leased) reset() int64 {
	ends := w.ends(anyone)
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1] - w.now
}

func (w *leased) take() {
	maps.DeleteFunc(w.leases, func(_ slot, end int64) bool { return end <= w.now })
	w.lease()
}

// lease starts the leases of the charge's slots.
func (w *leased) lease() {
	for i := range w.charge.Cost {
		w.leases[slot{w.charge.Holder, i + 1}] = w.now + w.charge.Limit.Period.Microseconds()
	}
}

// holds returns how many of the charge's slots its holder still has.
func (w *leased) holds() int64 { return int64(len(w.ends(w.own))) }

func (w *leased) refund(_, _ int64) {
	maps.DeleteFunc(w.leases, func(s slot, end int64) bool { return end > w.now && w.own(s) })
}

// renew starts the leases of the charge's slots anew, if they are all held.
func (w *leased) renew() bool {
	held := w.holds() == w.charge.Cost
	if held {
		w.lease()
	}
	return held
}

func (w *leased) remember() state { return state{leases: w.leases} }
func (w *leased) ahead() bool     { return false }
