package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
)

// point is what the page is told of a second: calls, refused, refused in shadow, store errors.
type point [4]int

// told is what the page is told.
type told struct {
	mode   string
	limits []struct {
		ID, Method, Name, Algorithm string
		Holds                       rule
		Directive                   *rule
		Callers                     int
		Edit                        bool
	}
	history struct {
		Total  []point
		Limits map[string][]point
	}
	second struct {
		Total        point
		Limits       [][5]int
		Median, Most int
		Keys         []struct {
			Limit, Key string
			Refused    int
		}
		Servers []struct {
			Name string
			Away bool
		}
		News []struct {
			Kind, About, Detail string
			Bad                 bool
			Times               int
		}
	}
	text strings.Builder // all of it
}

type rule struct {
	Count, Burst     int
	Time, Mode, Fail string
}

// of returns the figures of a limit in the last second.
func (to *told) of(id string) point {
	for _, f := range to.second.Limits {
		if to.limits[f[0]].ID == id {
			return point(f[1:])
		}
	}
	return point{}
}

// onlooker is one who looks at the page.
type onlooker struct {
	t      *testing.T
	events *bufio.Reader
	told
}

// look begins to look on, until the test ends.
func look(t *testing.T, board *dashboard.Dashboard) *onlooker {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		board.ServeHTTP(&streamed{header: http.Header{}, Writer: writer}, httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil))
		_ = writer.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_ = reader.Close()
		<-ended
	})
	o := &onlooker{t: t, events: bufio.NewReader(reader)}
	o.next("history")
	return o
}

// next reads until the next event of that name.
func (o *onlooker) next(name string) {
	o.t.Helper()
	for got := ""; got != name; {
		got = o.event()
	}
}

// event reads one event and returns its name.
func (o *onlooker) event() string {
	o.t.Helper()
	name, data := o.line("event: "), o.line("data: ")
	o.line("")
	var into any
	switch name {
	case "limits":
		into = &struct{ Mode, Limits any }{&o.mode, &o.limits}
		o.limits = nil
	case "history":
		into = &o.history
	case "second":
		o.second = told{}.second
		into = &o.second
	default:
		o.t.Fatalf("an event %q: want limits, history or second", name)
	}
	if err := json.Unmarshal([]byte(data), into); err != nil {
		o.t.Fatalf("event %s: %v\n%s", name, err, data)
	}
	return name
}

func (o *onlooker) line(begins string) string {
	o.t.Helper()
	line, err := o.events.ReadString('\n')
	if err != nil {
		o.t.Fatalf("the stream ends: %v", err)
	}
	o.text.WriteString(line)
	rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), begins)
	if !ok {
		o.t.Fatalf("a line %q: want it to begin with %q", line, begins)
	}
	return rest
}

// streamed is a ResponseWriter whose text is read as it is written.
type streamed struct {
	header http.Header
	io.Writer
}

func (s *streamed) Header() http.Header { return s.header }
func (s *streamed) WriteHeader(int)     {}
func (s *streamed) Flush()              {}

// newBoard returns a Dashboard and a Limiter that it observes.
func newBoard(t *testing.T, store ratelimit.Store, opts ...dashboard.Option) (*dashboard.Dashboard, *ratelimit.Limiter) {
	t.Helper()
	board := dashboard.New(opts...)
	t.Cleanup(board.Close)
	limiter, err := ratelimit.New(store, ratelimit.Observe(board))
	if err != nil {
		t.Fatal(err)
	}
	board.Show(limiter)
	return board, limiter
}
