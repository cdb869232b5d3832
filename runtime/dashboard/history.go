package dashboard

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// historySeconds is how far back the charts go.
const historySeconds = 300

// point is what was counted in a second.
type point struct{ calls, refused, lookedOn, failed uint32 }

// MarshalJSON writes the figures without their names: there are many.
func (p point) MarshalJSON() ([]byte, error) { return p.append(make([]byte, 0, 32), -1), nil }

// append writes an array of the figures, after an index unless that is negative.
func (p point) append(b []byte, index int) []byte {
	b = append(b, '[')
	if index >= 0 {
		b = append(strconv.AppendInt(b, int64(index), 10), ',')
	}
	for i, n := range [...]uint32{p.calls, p.refused, p.lookedOn, p.failed} {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	return append(b, ']')
}

func (p *point) addAll(q point) {
	p.calls += q.calls
	p.refused += q.refused
	p.lookedOn += q.lookedOn
	p.failed += q.failed
}

// series are the last seconds of a limit, of a method or of all, in a ring.
type series struct {
	before sums // at the last second
	points [historySeconds]point
}

// history is the last seconds of all there is. The lock of the Dashboard guards it.
type history struct {
	now     time.Time
	at      int // where the last second is in the rings
	total   series
	methods map[string]*series // by name
	limits  map[string]*series // by id
}

// add adds a second. What all have together is that of the methods, as a call of several limits is one.
func (h *history) add(now time.Time, methods map[string]*method) {
	if h.methods == nil {
		h.methods, h.limits = map[string]*series{}, map[string]*series{}
	}
	h.now, h.at = now, (h.at+1)%historySeconds
	var total point
	for name, m := range methods {
		of := h.sample(h.methods, name, &m.tally)
		for _, l := range *m.limits.Load() {
			total.lookedOn += h.sample(h.limits, l.id, &l.tally).lookedOn
		}
		total.addAll(of)
	}
	h.total.points[h.at] = total
}

func (h *history) sample(all map[string]*series, key string, t *tally) point {
	s := all[key]
	if s == nil {
		s = new(series)
		all[key] = s
	}
	sums := t.sums()
	more := func(f figure) uint32 { return uint32(min(sums[f]-s.before[f], math.MaxUint32)) }
	// A call that both limits that hold and limits that look on have decided is one call.
	p := point{max(more(calls), more(shadowed)), more(refused), more(lookedOn), more(failed)}
	s.before, s.points[h.at] = sums, p
	return p
}

// last returns the figures of a limit in the last second. The store fails a method as a whole, and so each limit of it.
func (h *history) last(id, method string) (p point) {
	if s := h.limits[id]; s != nil {
		p = s.points[h.at]
	}
	if s := h.methods[method]; s != nil {
		p.failed = s.points[h.at].failed
	}
	return p
}

// past returns the figures of a limit, oldest first, from the first second on that has any.
func (h *history) past(id, method string) []point {
	var points [historySeconds]point
	if s := h.limits[id]; s != nil {
		points = s.points
	}
	if s := h.methods[method]; s != nil {
		for i := range points {
			points[i].failed = s.points[i].failed
		}
	}
	return h.unroll(&points)
}

func (h *history) unroll(ring *[historySeconds]point) []point {
	points := append(append(make([]point, 0, historySeconds), ring[h.at+1:]...), ring[:h.at+1]...)
	for i, p := range points {
		if p != (point{}) {
			return points[i:]
		}
	}
	return nil
}

var _ json.Marshaler = point{}
