package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

const buyTarget = "/override?limit=shop.Shop.Buy%231m"

// The second of two who have opened the same override is told of the change of the first, and does not undo it.
func TestTwoWhoChangeTheSameOverride(t *testing.T) {
	board, _, overrides := newEditable(t)
	opened := func(want string) (tag string) {
		t.Helper()
		w := httptest.NewRecorder()
		board.ServeHTTP(w, request("GET", buyTarget, ""))
		if got := w.Body.String(); w.Code != http.StatusOK || got != want {
			t.Fatalf("the form is told %d %s, want %s", w.Code, got, want)
		}
		return w.Header().Get("ETag")
	}
	ann, bob := opened("null"), opened("null")
	if status, text := serve(board, request("PUT", buyTarget, `{"count":9}`, header("If-Match", ann))); status != http.StatusNoContent {
		t.Fatalf("the first is answered %d %s, want 204", status, text)
	}
	const want = `The change was not made: somebody else has changed the override meanwhile, to {"count":9}. Open the limit again to go on from there.`
	for _, r := range []*http.Request{
		request("PUT", buyTarget, `{"mode":"shadow"}`, header("If-Match", bob)), request("DELETE", buyTarget, "", header("If-Match", bob)),
	} {
		if status, text := serve(board, r); status != http.StatusPreconditionFailed || text != want {
			t.Errorf("the %s of the second is answered %d %s\nwant 412 %s", r.Method, status, text, want)
		}
	}
	if all, _ := overrides.Load(t.Context()); all.Limits[buy] == nil || all.Limits[buy].Count != 9 || all.Limits[buy].Mode != nil {
		t.Errorf("the store has %+v, want the change of the first", all.Limits[buy])
	}
	bob = opened(`{"count":9}`)
	if status, text := serve(board, request("PUT", buyTarget, `{"count":9,"mode":"shadow"}`, header("If-Match", bob))); status != http.StatusNoContent {
		t.Errorf("who has looked again is answered %d %s, want 204", status, text)
	}
}

// seldom is a store that is looked at twice a second.
type seldom struct{ ratelimit.OverrideStore }

// A change is said to hold once it does: over Redis that is within a second.
func TestAChangeIsAnsweredOnceItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := seldom{ratelimit.NewOverrides()}
		board, limiter := newBoard(t, memlimit.New(), dashboard.EditWith(store, func(*http.Request) (string, bool) { return "ann", true }))
		ctx, end := context.WithCancel(t.Context())
		defer end()
		if err := limiter.Watch(ctx, store); err != nil {
			t.Fatal(err)
		}
		guard := limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy:{@user}", Limit: perMinute(2)})
		for _, s := range []struct {
			method, target, body string
			want                 int
		}{
			{"PUT", buyTarget, `{"count":5}`, 5},
			{"PUT", buyTarget, `{"callers":[{"by":{"user":"PUT2"},"count":3}]}`, 2},
			{"PUT", "/mode", `"shadow"`, 10},
			{"PUT", "/mode", `"enforce"`, 2},
			{"DELETE", buyTarget, "", 2},
		} {
			began := time.Now()
			if status, text := serve(board, request(s.method, s.target, s.body)); status != http.StatusNoContent {
				t.Errorf("%s %s %s is answered %d %s, want 204", s.method, s.target, s.body, status, text)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s %s %s is answered after %v, want a second at most", s.method, s.target, s.body, took)
			}
			if got := admitted(t, guard, s.method+s.target+s.body); got != s.want {
				t.Errorf("%s %s %s: %d calls of ten go on once it is answered, want %d", s.method, s.target, s.body, got, s.want)
			}
		}
	})
}

// What is stored may not hold: another source goes before it, or the program does not go by the store.
func TestWhatIsStoredButDoesNotHold(t *testing.T) {
	const why = ": something else goes before it, the store has what cannot be taken, or the program does not go by it."
	later := &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{buy: {Count: 3, Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "vip"}, Count: 9}}}}}
	for name, tt := range map[string]struct {
		watched              bool
		later                *ratelimit.Overrides
		method, target, body string
		want                 string
	}{
		"no source":            {false, nil, "PUT", buyTarget, `{"count":50}`, "Stored, but count 2, time 1m, mode enforce holds" + why},
		"no source, mode":      {false, nil, "PUT", "/mode", `"off"`, "Stored, but the mode of all is enforce" + why},
		"later source":         {true, later, "PUT", buyTarget, `{"count":50}`, "Stored, but count 3, time 1m, mode enforce holds, and something else for some callers" + why},
		"later source, DELETE": {true, later, "DELETE", buyTarget, "", "Stored, but count 3, time 1m, mode enforce holds, and something else for some callers" + why},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := ratelimit.NewOverrides()
				board, limiter := newBoard(t, memlimit.New(), dashboard.EditWith(store, func(*http.Request) (string, bool) { return "ann", true }))
				if tt.watched {
					if err := limiter.Watch(t.Context(), store); err != nil {
						t.Fatal(err)
					}
				}
				limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy:{@user}", Limit: perMinute(2)})
				if err := limiter.Override(tt.later); err != nil {
					t.Fatal(err)
				}
				if status, text := serve(board, request(tt.method, tt.target, tt.body)); status != http.StatusAccepted || text != tt.want {
					t.Errorf("answer %d %s\nwant   202 %s", status, text, tt.want)
				}
			})
		})
	}
}

// brokenEntry is a store that cannot be read as long as it has an entry that is none.
type brokenEntry struct {
	*ratelimit.LocalOverrides
	id string
}

func (b *brokenEntry) Load(ctx context.Context) (*ratelimit.Overrides, error) {
	if b.id != "" {
		return nil, errors.New(b.id + " is broken")
	}
	return b.LocalOverrides.Load(ctx)
}

func (b *brokenEntry) Set(ctx context.Context, limit string, o *ratelimit.Override) error {
	if limit == b.id && o == nil {
		b.id = ""
	}
	return b.LocalOverrides.Set(ctx, limit, o)
}

// What keeps the store from being read can be removed here, whatever limit it is of, and so can what no limit has.
func TestWhatIsBrokenOrOfNoLimitIsRemoved(t *testing.T) {
	for _, id := range []string{buy, "shop.Shop.Gone#1m"} {
		store := &brokenEntry{ratelimit.NewOverrides(), id}
		if err := store.LocalOverrides.Set(t.Context(), "shop.Shop.Old#1m", &ratelimit.Override{Count: 3}); err != nil {
			t.Fatal(err)
		}
		board, limiter := newBoard(t, memlimit.New(), dashboard.EditWith(store, func(*http.Request) (string, bool) { return "ann", true }))
		limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy:{@user}", Limit: perMinute(2)})
		if status, text := serve(board, request("GET", "/overrides", "")); status != http.StatusBadGateway || text != "The overrides cannot be read: "+id+" is broken" {
			t.Errorf("answer %d %s", status, text)
		}
		for _, remove := range []string{id, "shop.Shop.Old#1m"} {
			if status, text := serve(board, request("DELETE", "/override?limit="+strings.ReplaceAll(remove, "#", "%23"), "")); status != http.StatusNoContent {
				t.Errorf("DELETE of %s is answered %d %s, want 204", remove, status, text)
			}
		}
		if status, text := serve(board, request("GET", "/overrides", "")); status != http.StatusOK || text != "{}" {
			t.Errorf("after that the answer is %d %s, want {}", status, text)
		}
	}
}

// The page is told of overrides for some callers, and of the mode of the whole Limiter, which a limit's own may hide.
func TestOverridesForSomeCallersAndTheModeOfAllAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, _, _ := newEditable(t)
		o := look(t, board)
		if o.limits[0].Callers != 0 || o.mode != "enforce" {
			t.Errorf("told of %d callers and the mode %q, want none and enforce", o.limits[0].Callers, o.mode)
		}
		serve(board, request("PUT", buyTarget, `{"mode":"off","callers":[{"by":{"user":"a"},"mode":"off"},{"by":{"user":"b"},"mode":"off"}]}`))
		serve(board, request("PUT", "/mode", `"shadow"`))
		o.next("second")
		if o.limits[0].Callers != 2 || o.mode != "shadow" {
			t.Errorf("told of %d callers and the mode %q, want 2 and shadow", o.limits[0].Callers, o.mode)
		}
	})
}
