// Package dashboard shows on a page of the program itself who is limited: for each limit its calls, refusals and store
// errors as they happen, the keys that are refused most, and which servers of the store are away. Limits can be changed
// there, if the program says by whom.
//
// The page is for operators: anyone who can open it sees which methods there are and how often they are called, so put it where
// only they come, behind the program's own authentication or on a port of its own.
package dashboard

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Dashboard is a page about the limits of one process. It counts what it is told as an Observer of a Limiter, and serves
// the page as an [http.Handler]:
//
//	board := dashboard.New()
//	defer board.Close()
//	limiter, err := ratelimit.New(store, ratelimit.Observe(board, ratelimit.Log(slog.Default())))
//	...
//	board.Show(limiter)
//	mux.Handle("/ratelimit/", http.StripPrefix("/ratelimit", board))
//
// It remembers five minutes, second by second, and needs no more memory for more callers: some 10 kB for each limit, and some
// 200 kB for the keys that are refused most. A call that goes on takes some 200 ns longer for being observed, a refused one a
// microsecond. The figures are those of this process; where there are several, each has a page of its own. It is safe for
// concurrent use. The zero value is not usable.
type Dashboard struct {
	edit  *editor // nil if nothing can be changed here
	mux   http.Handler
	shown atomic.Pointer[ratelimit.Limiter]

	books books
	took  latencies
	keys  *refusedKeys
	news  news

	mu       sync.Mutex // of what follows
	history  history
	told     []byte // the list of limits that all who look on know
	watchers watchers

	servers servers

	done  chan struct{} // closed by Close
	ended sync.WaitGroup
}

var (
	_ ratelimit.Observer = (*Dashboard)(nil)
	_ http.Handler       = (*Dashboard)(nil)
)

// Option changes a [Dashboard] at its construction.
type Option func(*Dashboard)

// ShowKeys has the page show keys as they are: the addresses and names of callers, and errors, whose texts may name keys.
// The default is a hash of each key with a secret of this process, by which it can be followed but not found out, and no texts
// of errors.
func ShowKeys() Option {
	return func(d *Dashboard) { d.keys = newRefusedKeys(true) }
}

// New returns a Dashboard. It adds up each second in a goroutine of its own, until [Dashboard.Close]. An Option that is nil
// changes nothing.
func New(opts ...Option) *Dashboard {
	d := &Dashboard{keys: newRefusedKeys(false), done: make(chan struct{})}
	for _, opt := range opts {
		if opt != nil {
			opt(d)
		}
	}
	d.mux = d.routes()
	d.ended.Go(d.run)
	return d
}

// Show has the page list the limits of l, whose observer the Dashboard should be, with what their directives say and before
// any is called. Without it, limits are listed once they have decided a call, and none can be overridden. Another Limiter takes
// the place of the one before; nil is none.
func (d *Dashboard) Show(l *ratelimit.Limiter) { d.shown.Store(l) }

// Close ends the goroutine and the streams to those who look on, and waits for them, ten seconds at most. The page is still
// served, but its figures stand still. A server that shuts down need not wait for Close: its streams end by themselves.
func (d *Dashboard) Close() {
	d.mu.Lock()
	if !d.isClosed() {
		close(d.done)
	}
	d.mu.Unlock()
	d.ended.Wait()
}

func (d *Dashboard) isClosed() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// run samples the counters each second and tells those who look on.
func (d *Dashboard) run() {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for n := 1; ; n++ {
		select {
		case <-d.done:
			return
		case now := <-second.C:
			d.sample(now)
			if n%60 == 0 {
				d.keys.turn()
			}
		}
	}
}

// sample adds a second to the history.
func (d *Dashboard) sample(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.history.add(now, d.books.all())
	if len(d.watchers.all) == 0 {
		d.took.drain()
		return
	}
	message, err := d.tick()
	if err != nil { // a message has nothing that JSON lacks
		slog.Error("ratelimit: the dashboard cannot tell its figures", "error", err)
		return
	}
	d.watchers.tell(message)
}
