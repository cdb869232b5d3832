package ratelimit

import (
	"errors"
	"fmt"
	"strings"
)

// with returns the rule with a change, which is valid by itself. The error says what it is that the limit cannot have.
//
// Prefetch is not for overrides to say: as much of it is taken at once as the limit may have, see [Rule.Prefetch].
func (r *rule) with(c change) (*rule, error) {
	v := *r
	l := &v.Limit
	if c.count != 0 {
		l.Count = c.count
	}
	if c.period != 0 {
		l.Period = c.period
	}
	if c.burst != 0 {
		l.Burst = c.burst
	}
	if c.mode != 0 {
		v.Mode = c.asMode()
	}
	if c.fail != "" {
		v.Fail = c.fail
	}
	if c.burst != 0 && !algorithms[l.Algorithm].burst {
		return nil, fmt.Errorf("burst is %d: %v has no burst", c.burst, l.Algorithm)
	}
	if err := l.Validate(); err != nil {
		return nil, unprefixed(err)
	}
	if !r.CostArg {
		if most := l.Capacity(); r.charge.Cost > most && r.charge.Cost <= r.Limit.Capacity() {
			return nil, fmt.Errorf("the capacity is %d: want at least what a call costs, %d", most, r.charge.Cost)
		}
		if l.tooManySlots(r.charge.Cost) {
			return nil, fmt.Errorf("count is %d: a call takes %d slots, and can have at most %d", l.Count, r.charge.Cost, maxSlots)
		}
	}
	if r.ahead {
		if err := l.checkWait("wait", r.Wait); err != nil {
			return nil, unprefixed(err)
		}
	}
	if v.Prefetch = min(r.Prefetch, l.Count, l.Capacity()); v.checkPrefetch() != nil {
		v.Prefetch = 0
	}
	v.charge.Limit, v.charge.prefetch = *l, v.Prefetch
	v.charge.Fresh = r.Prefetch > 0 || v.isFresh() // other callers may have units in advance
	return &v, nil
}

// unprefixed returns an error without the name of the package, which the one that it goes into has.
func unprefixed(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "ratelimit: ", ""))
}

// checkFor returns what a limit cannot have of an override that is valid by itself. Those that share its buckets are s, the limit
// among them.
func (o *Override) checkFor(k knownLimit, s sharers) error {
	own, r, id := o.change(), k.base, k.ID
	var errs []error
	if _, err := r.with(own); err != nil {
		errs = append(errs, inOverride(id, "", err))
	}
	buckets := o.callersOwn(k, s)
	fine := map[change]bool{own: true} // many callers have the same
	for i := range o.Callers {
		says := o.Callers[i].change()
		if err := buckets.check(i, says, r); err != nil {
			errs = append(errs, inOverride(id, callersName(i), err))
			continue
		}
		c := says.over(own)
		if fine[c] {
			continue
		}
		if _, err := r.with(c); err != nil {
			errs = append(errs, inOverride(id, callersName(i), err))
			continue
		}
		fine[c] = true
	}
	return errors.Join(errs...)
}
