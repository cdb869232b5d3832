package ratelimit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A bucket has one limit, whoever charges it: by the shorter period of one method, what another has used would be over too early.
// So what overrides the count, period or burst of one limit holds for all that share its buckets.

// numbers returns what a change says about the limit itself, which is the same for all who charge its buckets.
func (c change) numbers() change { return change{count: c.count, period: c.period, burst: c.burst} }

// differs returns what two changes say differently about the limit itself, or "".
func (c change) differs(d change) string {
	switch {
	case c.count != d.count && c.count != 0 && d.count != 0:
		return fmt.Sprintf("count is %d, and %d", c.count, d.count)
	case c.period != d.period && c.period != 0 && d.period != 0:
		return fmt.Sprintf("time is %v, and %v", c.period, d.period)
	case c.burst != d.burst && c.burst != 0 && d.burst != 0:
		return fmt.Sprintf("burst is %d, and %d", c.burst, d.burst)
	}
	return ""
}

// sharers are limits that share buckets, by their ids in order; often there is but one.
type sharers []knownLimit

// without returns the ids of the others.
func (s sharers) without(id string) string {
	var ids []string
	for _, k := range s {
		if k.ID != id {
			ids = append(ids, k.ID)
		}
	}
	return strings.Join(ids, ", ")
}

// numbers returns what overrides say of the limit of the buckets, and the first id of which they say some of it. The error says
// where they differ.
func (s sharers) numbers(limits map[string]*Override) (n change, of string, err error) {
	for _, k := range s {
		o := limits[k.ID]
		if o == nil {
			continue
		}
		own := o.change().numbers()
		if differ := n.differs(own); differ != "" {
			return change{}, "", inOverride(k.ID, "", fmt.Errorf("%s of %s, which shares its buckets: want them equal, or one of them", own.differs(n), of))
		}
		if n = n.over(own); of == "" && own != (change{}) {
			of = k.ID
		}
	}
	return n, of, nil
}

// saysNumbers reports whether an override says something of the limit itself: an empty one says that it is that of the directive.
func (o *Override) saysNumbers() bool {
	return o.change().numbers() != (change{}) || o.change() == (change{}) && len(o.Callers) == 0
}

// withNumbers returns what an override, which may be nil, and the numbers for all that share its buckets make of a limit.
func (o *Override) withNumbers(n change) *Override {
	whole := Override{}
	if o != nil {
		whole = *o
	}
	whole.Count, whole.Period, whole.Burst = n.count, n.period, n.burst
	return &whole
}

// withoutNumbers returns what is a limit's own of an override: nobody has other numbers than those of the directive.
func (o *Override) withoutNumbers() *Override {
	own := o.withNumbers(change{})
	own.Callers = slices.Clone(o.Callers)
	for i := range own.Callers {
		c := &own.Callers[i]
		c.Count, c.Period, c.Burst = 0, 0, 0
	}
	return own
}

// check returns what the limits cannot have of overrides that are valid by themselves.
func (s sharers) check(limits map[string]*Override) error {
	n, of, err := s.numbers(limits)
	if err != nil {
		return err
	}
	var errs []error
	for _, k := range s {
		o := limits[k.ID]
		if o != nil {
			errs = append(errs, o.withNumbers(n).checkFor(k, s))
			continue
		}
		if of == "" {
			continue
		}
		if _, err := k.base.with(n); err != nil {
			errs = append(errs, inOverride(of, "", fmt.Errorf("%s, which shares its buckets: %w", k.ID, err)))
		}
	}
	return errors.Join(errs...)
}

// checkLimits returns what the limits of the Limiter cannot have of overrides that are valid by themselves, but for what is as it was
// in those that were taken before, which may be nil: a limit that was made later may not have it, and holds as its directive
// says.
func (l *Limiter) checkLimits(o, taken *Overrides) error {
	var errs []error
	for _, s := range l.limits.bySharers() {
		if taken == nil || s.differ(o.Limits, taken.Limits) {
			errs = append(errs, s.check(o.Limits))
		}
	}
	return errors.Join(errs...)
}

// differ reports whether two sets of overrides say different things about the limits.
func (s sharers) differ(a, b map[string]*Override) bool {
	return slices.ContainsFunc(s, func(k knownLimit) bool { return !reflect.DeepEqual(a[k.ID], b[k.ID]) })
}

// share has the numbers for buckets that limits share hold for all of these. If one of them cannot have its part, all have those of
// their directives.
func (t *overrideTable) share(l *limits, sources []*Overrides) {
	for _, s := range l.bySharers() {
		if len(s) > 1 && slices.ContainsFunc(s, func(k knownLimit) bool { return t.limits[k.ID] != nil }) {
			n, err := t.numbers(s, sources)
			t.put(s, n, err)
		}
	}
}

// numbers returns those of the last source that says some of one of the limits. An entry in place of which a later source has
// another says nothing.
func (t *overrideTable) numbers(s sharers, sources []*Overrides) (change, error) {
	for _, source := range slices.Backward(sources) {
		if source == nil {
			continue
		}
		said := map[string]*Override{}
		for _, k := range s {
			if o := source.Limits[k.ID]; o != nil && o == t.limits[k.ID] && o.saysNumbers() {
				said[k.ID] = o
			}
		}
		if len(said) > 0 {
			n, _, err := s.numbers(said)
			return n, err
		}
	}
	return change{}, nil
}

// put is share for one set of limits.
func (t *overrideTable) put(s sharers, n change, err error) {
	whole := map[string]*Override{}
	for _, k := range s {
		whole[k.ID] = t.limits[k.ID].withNumbers(n)
	}
	if err = cmp.Or(err, s.check(whole)); err != nil {
		for _, k := range s {
			t.wrong[k.ID] = err
		}
		return
	}
	maps.Copy(t.limits, whole)
}

// callersOwn tells which entries of callers are for buckets that no others use.
type callersOwn struct {
	others string // that share the buckets of the limit; empty if there are none
	entry  int    // the first that some of those match who share a bucket, and others not
	by     string // the attribute by which it goes then; empty if there is no such entry
}

func (o *Override) callersOwn(k knownLimit, s sharers) callersOwn {
	c := callersOwn{others: s.without(k.ID)}
	for i := range o.Callers {
		for _, name := range slices.Sorted(maps.Keys(o.Callers[i].By)) {
			if !k.base.goesBy(name) {
				c.entry, c.by = i, name
				return c
			}
		}
	}
	return c
}

// check returns an error if the i-th entry is for buckets that others use, and says what changes what these have used.
func (c callersOwn) check(i int, says change, r *rule) error {
	var why string
	switch {
	case c.others != "":
		why = "it shares its buckets with " + c.others
	case c.by == "" || i < c.entry:
		return nil
	case i == c.entry:
		why = fmt.Sprintf("callers share buckets whatever their %s", c.by)
	default:
		why = fmt.Sprintf("callers share buckets whatever their %s, by which %s goes", c.by, callersName(c.entry))
	}
	var errs []error
	if says.count != 0 && r.Limit.Algorithm == TokenBucket { // by its count a bucket is refilled, for whoever comes next
		errs = append(errs, fmt.Errorf("count is %d: want none, since %s", says.count, why))
	}
	if says.period != 0 && !r.leased {
		errs = append(errs, fmt.Errorf("time is %v: want none, since %s", says.period, why))
	}
	return errors.Join(errs...)
}

// goesBy reports whether the buckets of callers are told apart by an attribute.
func (r *rule) goesBy(name string) bool {
	return slices.ContainsFunc(r.parts, func(p part) bool { return p.ctxKey != nil && p.name == name })
}
