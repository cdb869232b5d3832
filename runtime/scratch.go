package ratelimit

import (
	"slices"
	"sync"
	"time"
)

// scratch is the memory of one decision, reused so that a decision allocates nothing. Charges are passed to a Store
// through an interface, so that they cannot live on the stack.
type scratch struct {
	method   string // that of the call
	keys     []byte
	holding  []*rule // limits that hold for the call, if that depends on it
	looking  []*rule // those that only look on, likewise
	rules    []*rule // of the charges
	charges  []Charge
	results  []Result
	outcomes []Outcome
	local    bool  // whether the local store has decided
	told     bool  // whether it was told that the store could not decide
	failed   error // why the store could not decide; then the charges are only those of whole that the local store has decided
	whole    struct {
		rules   []*rule
		charges []Charge
	}
	holder  string        // of the slots that are taken
	stocked bool          // whether a charge has a prefetch
	waits   bool          // whether a limit of the call may have a Wait
	timed   bool          // whether asked is wanted
	asked   time.Time     // when the store was asked, or just before
	took    time.Duration // what asking took, if somebody observes
	shadow  bool          // whether the limits only look on
	event   Event         // what observers are told
	delay   time.Duration // until the call's turn, from replied on; 0 if it has none
	replied time.Time
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// add adds the charge of a rule, and a result that is zero, and returns the charge.
func (s *scratch) add(r *rule) *Charge {
	s.rules = append(s.rules, r)
	s.charges = append(s.charges, r.charge)
	s.results = append(s.results, Result{})
	return &s.charges[len(s.charges)-1]
}

// holds reports whether the i-th charge holds slots.
func (s *scratch) holds(i int) bool { return s.rules[i].leased && s.charges[i].Cost > 0 }

// refund returns what there is to give back of the i-th charge, if anything. What has come back by itself is not given
// back twice: all has when the bucket would be as new, had nobody else called, and the call's own units are the last.
func (s *scratch) refund(i int) (Charge, bool) {
	c := s.charges[i]
	if s.rules[i].leased {
		return c, c.Cost > 0
	}
	c.Taken = s.results[i].At
	r := &s.results[i]
	left := r.ResetAfter - time.Since(s.asked)
	if left <= 0 {
		return c, false
	}
	if algorithms[c.Limit.Algorithm].burst && r.Delay == 0 { // who is in debt has taken all that is out
		c.Cost = min(c.Cost, c.Limit.stillOut(r.Limit-r.Remaining, left))
	}
	return c, c.Cost > 0
}

// keep drops all charges but the first n.
func (s *scratch) keep(n int) {
	clear(s.rules[n:])
	clear(s.charges[n:])
	s.rules, s.charges, s.results = s.rules[:n], s.charges[:n], s.results[:n]
}

// save keeps the charges for a try after the one that the store has failed.
func (s *scratch) save(cause error) {
	s.failed = cause
	s.whole.rules, s.whole.charges = append(s.whole.rules[:0], s.rules...), append(s.whole.charges[:0], s.charges...)
}

// restore takes the charges back to what they were before the store failed.
func (s *scratch) restore() {
	if s.failed == nil {
		return
	}
	s.failed = nil
	s.rules, s.charges = append(s.rules[:0], s.whole.rules...), append(s.charges[:0], s.whole.charges...)
	s.results = slices.Grow(s.results[:0], len(s.charges))[:len(s.charges)]
}

// release makes the scratch ready for another decision. What it still refers to is overwritten by that, or goes with the pool.
func (s *scratch) release() {
	s.keys, s.rules, s.charges, s.results, s.outcomes = s.keys[:0], s.rules[:0], s.charges[:0], s.results[:0], s.outcomes[:0]
	s.local, s.failed, s.holder, s.stocked, s.timed, s.delay = false, nil, "", false, false, 0
	s.took, s.shadow, s.waits, s.told = 0, false, false, false
	scratchPool.Put(s)
}
