package ratelimit

// ilk is what buckets have in common of which a limit may be.
type ilk struct {
	name      string
	algorithm Algorithm
}

// recall has what was taken in advance of limits that held otherwise under that table given back. A bucket that fills faster than
// when it was taken may else have it back by itself as well, and so admit it twice.
func (o *overriding) recall(old *overrideTable) {
	now := o.table.Load()
	if o.limiter.stock == nil || o.limiter.stock.piles.Load() == 0 {
		return
	}
	changed := map[ilk]bool{}
	for _, k := range o.limiter.limits.sorted() {
		if !old.own(k.ID).holdsAs(now.own(k.ID)) {
			changed[ilk{k.Name, k.base.Limit.Algorithm}] = true
		}
	}
	if len(changed) > 0 {
		o.limiter.stock.recall(changed)
	}
}

// own returns what a table, which may be nil, says of a limit, or nil.
func (t *overrideTable) own(id string) *Override {
	if t == nil {
		return nil
	}
	return t.limits[id]
}

// holdsAs reports whether both certainly make the same of a limit; they may be nil.
func (o *Override) holdsAs(other *Override) bool {
	if o == nil {
		o = &Override{}
	}
	if other == nil {
		other = &Override{}
	}
	return o == other || len(o.Callers)+len(other.Callers) == 0 && o.change() == other.change()
}

// recall has the units of buckets of those ilks given back in the background, as those that lie idle are, unless a call goes by
// them before.
func (s *stock) recall(changed map[ilk]bool) {
	for i := range s.shelves {
		sh := &s.shelves[i]
		sh.mu.Lock()
		for _, p := range sh.piles {
			if changed[ilk{p.bucket.Name, p.bucket.Limit.Algorithm}] {
				p.touched = s.now() - idleUnits
			}
		}
		sh.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.look != nil && !s.closed.Load() {
		s.look.Reset(0)
	}
}
