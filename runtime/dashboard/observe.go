package dashboard

import (
	"context"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Observe implements [ratelimit.Observer]. It takes no lock and no memory for a call that goes on.
func (d *Dashboard) Observe(_ context.Context, e *ratelimit.Event) {
	switch e.Kind {
	case ratelimit.EventDecision, ratelimit.EventShadow:
		d.decided(e)
	case ratelimit.EventStoreError:
		d.books.method(e.Method).add(anyStripe(), failed)
	case ratelimit.EventTrouble, ratelimit.EventOutage, ratelimit.EventOverrides:
		d.news.add(e)
	}
}

// decided counts what the limits of a call have answered.
func (d *Dashboard) decided(e *ratelimit.Event) {
	m, stripe := d.books.method(e.Method), anyStripe()
	for i := range e.Outcomes {
		o := &e.Outcomes[i]
		l := d.books.limit(m, o)
		l.add(stripe, calls)
		if o.Result.Allowed {
			continue
		}
		if o.Shadow {
			l.add(stripe, lookedOn)
			continue
		}
		l.add(stripe, refused)
		if key := e.Key(i); len(key) > 0 {
			d.keys.add(l.id, key)
		}
	}
	if e.Took > 0 { // or no store was asked, for want of a key
		d.took.add(stripe, e.Took)
	}
	if e.Kind == ratelimit.EventShadow {
		m.add(stripe, shadowed)
		return
	}
	m.add(stripe, calls)
	if !e.Allowed() {
		m.add(stripe, refused)
	}
}
