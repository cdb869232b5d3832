package dashboard

import (
	"slices"
	"strings"
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// maxServers and keptNews bound the memory. A store has few servers, and they come back.
	maxServers    = 64
	keptNews      = 20
	longestDetail = 500 // bytes
)

// news are what happens rarely: servers that go away and come back, overrides, and errors that no caller was given. The
// zero value is ready, and safe for concurrent use.
type news struct {
	mu      sync.Mutex
	servers []server
	items   []item // newest first
}

// server is what is known of a server of the store: that it went away once.
type server struct {
	Name  string    `json:"name"` // empty for the only one of a store
	Away  bool      `json:"away"`
	Since time.Time `json:"since"`
}

// item is one line of the news.
type item struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"` // that of the event; gone is that of overrides that are
	Bad    bool      `json:"bad"`
	About  string    `json:"about,omitempty"` // the server or method
	Detail string    `json:"detail,omitempty"`
	Times  int       `json:"times"` // how often it happened, at last at that time
}

func (n *news) add(e *ratelimit.Event) {
	now := time.Now()
	it := item{At: now, Kind: e.Kind.String(), Bad: e.Err != nil || e.Away, About: e.Method, Times: 1}
	if e.Err != nil {
		it.Detail = e.Err.Error()
		it.Detail = visible(strings.ToValidUTF8(it.Detail[:min(len(it.Detail), longestDetail)], ""))
	}
	if e.Gone {
		it.Kind = "gone"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Kind == ratelimit.EventOutage {
		it.About, it.Bad = e.Server, e.Away
		n.setServer(server{e.Server, e.Away, now})
	}
	if i := slices.IndexFunc(n.items, it.same); i >= 0 {
		it.Times += n.items[i].Times
		n.items = slices.Delete(n.items, i, i+1)
	}
	n.items = slices.Insert(n.items, 0, it)
	n.items = n.items[:min(len(n.items), keptNews)]
}

// same reports whether two items differ in time only, or in the text of an error.
func (i *item) same(j item) bool { return i.Kind == j.Kind && i.Bad == j.Bad && i.About == j.About }

// setServer forgets the server that has been back for longest if there are too many.
func (n *news) setServer(s server) {
	if i := slices.IndexFunc(n.servers, func(known server) bool { return known.Name == s.Name }); i >= 0 {
		n.servers[i] = s
		return
	}
	if len(n.servers) >= maxServers {
		i := max(slices.IndexFunc(n.servers, func(known server) bool { return !known.Away }), 0)
		n.servers = slices.Delete(n.servers, i, i+1)
	}
	n.servers = append(n.servers, s)
}

// all returns the servers that were ever away and the news, newest first, with the texts of errors or without.
func (n *news) all(texts bool) ([]server, []item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	items := append([]item{}, n.items...) // an array in JSON, even if there are none
	if !texts {
		for i := range items {
			items[i].Detail = ""
		}
	}
	return append([]server{}, n.servers...), items
}
