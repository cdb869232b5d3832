package dashboard

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	// maxWatchers bounds the connections of those who look on, which stay.
	maxWatchers = 100
	// behind is how many seconds one who looks on may be late. The browser of one who is later connects again.
	behind = 5
	// patience is how long a write to one who looks on may take.
	patience = 10 * time.Second
)

// watchers are those who look on.
type watchers struct{ all map[*watcher]bool }

// watcher is one who looks on.
type watcher struct{ messages chan []byte } // closed when there are no more

// tell leaves a message for each, and loses those who are behind.
func (ws *watchers) tell(message []byte) {
	for w := range ws.all {
		select {
		case w.messages <- message:
		default:
			ws.lose(w)
		}
	}
}

func (ws *watchers) lose(w *watcher) {
	if ws.all[w] {
		delete(ws.all, w)
		close(w.messages)
	}
}

// watch streams the figures to one who looks on, until the request ends, its server shuts down, or the Dashboard is closed.
func (d *Dashboard) watch(w http.ResponseWriter, r *http.Request) {
	stream := http.NewResponseController(w)
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // or nginx keeps seconds to itself

	watcher, first, err := d.join()
	switch {
	case err != nil:
		slog.Error("ratelimit: the dashboard cannot tell its figures", "error", err)
		http.Error(w, "the figures cannot be told", http.StatusInternalServerError)
		return
	case watcher == nil:
		header.Set("Retry-After", "30")
		http.Error(w, "too many look on already, or the program ends", http.StatusServiceUnavailable)
		return
	}
	defer d.leave(watcher)
	if r.Method == http.MethodHead {
		return
	}
	shutdown := d.servers.shutdown(r.Context())
	_ = stream.SetReadDeadline(time.Time{}) // or the ReadTimeout of the server, if it has one, ends the stream
	if err := stream.Flush(); err != nil {
		http.Error(w, "this server cannot stream: "+err.Error(), http.StatusInternalServerError)
		return
	}
	for message := first; ; {
		_ = stream.SetWriteDeadline(time.Now().Add(patience)) // instead of a WriteTimeout
		if _, err := w.Write(message); err != nil {
			return
		}
		if err := stream.Flush(); err != nil {
			return
		}
		var more bool
		select {
		case message, more = <-watcher.messages:
			if !more {
				return
			}
		case <-r.Context().Done():
			return
		case <-shutdown:
			return
		case <-d.done:
			return
		}
	}
}

// join returns another who looks on, and what to tell first. It returns nil if there are too many, or no more to tell.
func (d *Dashboard) join() (*watcher, []byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.watchers.all) >= maxWatchers || d.isClosed() {
		return nil, nil, nil
	}
	first, err := d.hello()
	if err != nil {
		return nil, nil, err
	}
	w := &watcher{messages: make(chan []byte, behind)}
	if d.watchers.all == nil {
		d.watchers.all = map[*watcher]bool{}
	}
	d.watchers.all[w] = true
	d.ended.Add(1)
	return w, first, nil
}

func (d *Dashboard) leave(w *watcher) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watchers.lose(w)
	d.ended.Done()
}

// servers are the HTTP servers that the page was served by. One that shuts down waits for connections to end, and those of
// who looks on do not end by themselves.
type servers struct {
	mu  sync.Mutex
	all map[*http.Server]chan struct{} // closed once they shut down
}

// shutdown returns what is closed once the server of a request shuts down, nil if there is none. A server that begins to do so
// before it was first asked about does not tell: it is asked about at each request, of which streams are not the first.
func (s *servers) shutdown(ctx context.Context) <-chan struct{} {
	server, _ := ctx.Value(http.ServerContextKey).(*http.Server)
	if server == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if down := s.all[server]; down != nil {
		return down
	}
	if s.all == nil {
		s.all = map[*http.Server]chan struct{}{}
	}
	down := make(chan struct{})
	s.all[server] = down
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(down) })) // Shutdown may be called again
	return down
}
