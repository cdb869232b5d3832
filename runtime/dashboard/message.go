package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// shownLimit is a limit as the page is told of it.
type shownLimit struct {
	ID        string     `json:"id"`
	Method    string     `json:"method"`
	Name      string     `json:"name"`
	Algorithm string     `json:"algorithm"`
	Holds     shownRule  `json:"holds"`
	Directive *shownRule `json:"directive,omitempty"` // if something else holds
	Callers   int        `json:"callers,omitempty"`   // entries of overrides for some callers
	Edit      bool       `json:"edit"`                // whether it can be overridden
}

// shownRule is what of a rule can be changed.
type shownRule struct {
	Count int64  `json:"count"`
	Time  string `json:"time"`
	Burst int64  `json:"burst,omitempty"` // unless it is the count
	Mode  string `json:"mode"`
	Fail  string `json:"fail,omitempty"` // unless it is the Limiter's
}

// String returns the rule in words.
func (r shownRule) String() string {
	text := fmt.Sprintf("count %d, time %s", r.Count, r.Time)
	if r.Burst > 0 {
		text += fmt.Sprintf(", burst %d", r.Burst)
	}
	text += ", mode " + r.Mode
	if r.Fail != "" {
		text += ", fail " + r.Fail
	}
	return text
}

func showRule(r *ratelimit.Rule) shownRule {
	shown := shownRule{Count: r.Limit.Count, Time: period(r.Limit.Period), Mode: r.Mode.String(), Fail: string(r.Fail)}
	if r.Limit.Burst != r.Limit.Count {
		shown.Burst = r.Limit.Burst
	}
	return shown
}

// period writes a period as the directive does.
func period(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// limits returns what there is to show: the limits of the Limiter by their ids in order, and then those that it does not
// tell of, such as those of [ratelimit.Limiter.Allow], once they have decided a call.
func (d *Dashboard) limits() []shownLimit {
	shown := []shownLimit{} // an array in JSON, even if there are none
	known := map[string]bool{}
	for _, info := range d.shown.Load().Limits() {
		l := shownLimit{
			ID: info.ID, Method: info.Method, Name: info.Name, Algorithm: info.Rule.Limit.Algorithm.String(),
			Holds: showRule(&info.Holds), Callers: info.Callers, Edit: d.edit != nil,
		}
		if directive := showRule(&info.Rule); directive != l.Holds {
			l.Directive = &directive
		}
		shown, known[info.ID] = append(shown, l), true
	}
	for _, m := range d.books.sorted() {
		for _, l := range *m.limits.Load() {
			if known[l.id] {
				continue
			}
			shown = append(shown, shownLimit{
				ID: l.id, Method: m.name, Name: l.name, Algorithm: l.kind.Algorithm.String(),
				Holds: showRule(&ratelimit.Rule{Limit: l.kind}),
			})
		}
	}
	return shown
}

// greeting is what one who begins to look on is told.
type greeting struct {
	Time   int64              `json:"time"` // of the last second, in milliseconds since 1970
	Total  []point            `json:"total"`
	Limits map[string][]point `json:"limits"` // by id; those without any figures are left out
}

// second is what all who look on are told each second.
type second struct {
	Time    int64           `json:"time"`
	Total   point           `json:"total"`
	Limits  json.RawMessage `json:"limits"` // [index, calls, refused, …] of those that have figures
	Median  int64           `json:"median"` // of the times that decisions took, in microseconds
	Most    int64           `json:"most"`   // of 99 of a hundred
	Keys    []refusedKey    `json:"keys"`
	Servers []server        `json:"servers"`
	News    []item          `json:"news"`
}

// hello returns what one who begins to look on is told. It is called with the lock held, as tick is.
func (d *Dashboard) hello() ([]byte, error) {
	shown := d.limits()
	g := greeting{
		Time: d.history.now.UnixMilli(), Total: d.history.unroll(&d.history.total.points), Limits: map[string][]point{},
	}
	for i := range shown {
		if past := d.history.past(shown[i].ID, shown[i].Method); past != nil {
			g.Limits[shown[i].ID] = past
		}
	}
	list, err := event("limits", d.list(shown))
	if err != nil {
		return nil, err
	}
	d.told = nil // the others do not know of it
	history, err := event("history", g)
	return append(list, history...), err
}

// tick returns what there is to tell of the last second, after the list of limits if that has changed.
func (d *Dashboard) tick() ([]byte, error) {
	shown := d.limits()
	list, err := event("limits", d.list(shown))
	if err != nil {
		return nil, err
	}
	message := list
	if bytes.Equal(list, d.told) {
		message = nil
	}
	d.told = list

	median, most := d.took.drain()
	s := second{
		Time: d.history.now.UnixMilli(), Total: d.history.total.points[d.history.at], Limits: []byte{'['},
		Median: median.Microseconds(), Most: most.Microseconds(), Keys: d.keys.top(),
	}
	s.Servers, s.News = d.news.all(d.keys.clear())
	for i := range shown {
		if p := d.history.last(shown[i].ID, shown[i].Method); p != (point{}) {
			if len(s.Limits) > 1 {
				s.Limits = append(s.Limits, ',')
			}
			s.Limits = p.append(s.Limits, i)
		}
	}
	s.Limits = append(s.Limits, ']')
	figures, err := event("second", s)
	return append(message, figures...), err
}

// list is the limits, which figures refer to by their index.
func (d *Dashboard) list(shown []shownLimit) any {
	return struct {
		Edit   bool         `json:"edit"`  // whether someone may change limits
		Clear  bool         `json:"clear"` // whether keys are shown as they are
		Mode   string       `json:"mode"`  // of the whole Limiter
		Limits []shownLimit `json:"limits"`
	}{d.edit != nil, d.keys.clear(), d.shown.Load().Mode().String(), shown}
}

// event writes one event of a stream, see https://html.spec.whatwg.org/multipage/server-sent-events.html.
func event(name string, data any) ([]byte, error) {
	text, err := json.Marshal(data) // on one line
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text), nil
}
