package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// request makes one as the page does, but for what change says.
func request(method, target, body string, change ...func(*http.Request)) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), method, "http://ops.example.com"+target, strings.NewReader(body))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(r)
	}
	return r
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func serve(h http.Handler, r *http.Request) (status int, text string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, strings.TrimSuffix(w.Body.String(), "\n")
}

const buy = "shop.Shop.Buy#1m"

// newEditable returns a Dashboard of one limit, two calls a minute, that ann may change.
func newEditable(t *testing.T) (*dashboard.Dashboard, *ratelimit.Guard, *ratelimit.LocalOverrides) {
	t.Helper()
	overrides := ratelimit.NewOverrides()
	board, limiter := newBoard(t, memlimit.New(), dashboard.EditWith(overrides, func(r *http.Request) (string, bool) {
		return "ann", r.Header.Get("Authorization") != "none"
	}))
	if err := limiter.Watch(t.Context(), overrides); err != nil {
		t.Fatal(err)
	}
	guard := limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy:{@user}", Limit: perMinute(2)})
	return board, guard, overrides
}

// admitted returns how many of ten calls go on.
func admitted(t *testing.T, guard *ratelimit.Guard, user string) (n int) {
	for range 10 {
		if guard.Allow(ofUser(t.Context(), user)) == nil {
			n++
		}
	}
	return n
}

func TestAnOverrideHoldsFromTheNextCallOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, guard, _ := newEditable(t)
		o := look(t, board)
		steps := []struct {
			method, target, body string
			user                 string
			want                 int
			holds                rule
		}{
			{"PUT", "/override?limit=shop.Shop.Buy%231m", `{"count":5,"callers":[{"by":{"user":"vip"},"count":7}]}`, "a", 5, rule{Count: 5, Time: "1m", Mode: "enforce"}},
			{"PUT", "/override?limit=shop.Shop.Buy%231m", `{"count":5,"callers":[{"by":{"user":"vip"},"count":7}]}`, "vip", 7, rule{Count: 5, Time: "1m", Mode: "enforce"}},
			{"PUT", "/mode", `"shadow"`, "b", 10, rule{Count: 5, Time: "1m", Mode: "shadow"}},
			{"DELETE", "/mode", "", "c", 5, rule{Count: 5, Time: "1m", Mode: "enforce"}},
			{"DELETE", "/override?limit=shop.Shop.Buy%231m", "", "d", 2, rule{Count: 2, Time: "1m", Mode: "enforce"}},
		}
		for _, s := range steps {
			if status, text := serve(board, request(s.method, s.target, s.body)); status != http.StatusNoContent {
				t.Fatalf("%s %s %s is answered %d %s, want 204", s.method, s.target, s.body, status, text)
			}
			if got := admitted(t, guard, s.user); got != s.want {
				t.Errorf("%s %s %s: %d calls of ten go on, want %d", s.method, s.target, s.body, got, s.want)
			}
			o.next("second")
			if got := o.limits[0].Holds; got != s.holds {
				t.Errorf("%s %s: the page is told that %+v holds, want %+v", s.method, s.target, got, s.holds)
			}
			if overridden := s.holds != (rule{Count: 2, Time: "1m", Mode: "enforce"}); overridden != (o.limits[0].Directive != nil) {
				t.Errorf("%s %s: the page is told of the directive %v", s.method, s.target, o.limits[0].Directive)
			}
		}
	})
}

func TestOverridesAreListedForThoseWhoMayChangeThem(t *testing.T) {
	board, _, overrides := newEditable(t)
	if err := overrides.Set(t.Context(), buy, &ratelimit.Override{Count: 9}); err != nil {
		t.Fatal(err)
	}
	if status, text := serve(board, request("GET", "/overrides", "")); status != http.StatusOK || text != `{"limits":{"shop.Shop.Buy#1m":{"count":9}}}` {
		t.Errorf("answer %d %s", status, text)
	}
	status, text := serve(board, request("GET", "/overrides", "", header("Authorization", "none")))
	if status != http.StatusForbidden || text != "You may not change limits." {
		t.Errorf("who may not is answered %d %s, want 403", status, text)
	}
}

// Nothing is changed by requests of those who may not, of other sites, or that are wrong.
func TestRequestsThatChangeNothing(t *testing.T) {
	const target = "/override?limit=shop.Shop.Buy%231m"
	const body = `{"count":5}`
	tests := []struct {
		name    string
		request *http.Request
		status  int
		text    string
	}{
		{"not authorized", request("PUT", target, body, header("Authorization", "none")), 403, "You may not change limits."},
		{"not authorized to delete", request("DELETE", target, "", header("Authorization", "none")), 403, "You may not change limits."},
		{"not authorized for all", request("PUT", "/mode", `"off"`, header("Authorization", "none")), 403, "You may not change limits."},
		{"other site", request("PUT", target, body, header("Sec-Fetch-Site", "cross-site")), 403, "cross-origin request detected from Sec-Fetch-Site header"},
		{"other site that deletes", request("DELETE", target, "", header("Sec-Fetch-Site", "cross-site")), 403, "cross-origin request detected from Sec-Fetch-Site header"},
		{
			"old browser on another site", request("PUT", target, body, header("Sec-Fetch-Site", ""), header("Origin", "https://evil.example.com")), 403,
			"cross-origin request detected, and/or browser is out of date: Sec-Fetch-Site is missing, and Origin does not match Host",
		},
		{"form", request("PUT", target, body, header("Content-Type", "application/x-www-form-urlencoded")), 415, "Want Content-Type application/json."},
		{"text", request("PUT", target, body, header("Content-Type", "text/plain")), 415, "Want Content-Type application/json."},
		{"POST", request("POST", target, body), 405, "Method Not Allowed"},
		{"other site that looks", request("GET", "/overrides", "", header("Sec-Fetch-Site", "cross-site")), 403, "cross-origin request detected from Sec-Fetch-Site header"},
		{"same domain that looks", request("GET", target, "", header("Sec-Fetch-Site", "same-site")), 403, "cross-origin request detected from Sec-Fetch-Site header"},
		{"unknown limit", request("PUT", "/override?limit=shop.Shop.Sell%231m", body), 404, "There is no such limit."},
		{"no limit", request("PUT", "/override", body), 404, "There is no such limit."},
		{"no JSON", request("PUT", target, `count: 5`), 422, "invalid character 'c' looking for beginning of value"},
		{"unknown field", request("PUT", target, `{"cuont":5}`), 422, `there is no "cuont": want count, time, burst, mode or fail`},
		{"value out of range", request("PUT", target, `{"count":-5}`), 422, "count is -5: want an integer, 1 to 1000000000"},
		{"what the limit cannot have", request("PUT", target, `{"burst":5}`), 422, "ratelimit: override of shop.Shop.Buy#1m: burst is 5: fixed-window has no burst"},
		{"unknown mode", request("PUT", "/mode", `"on"`), 422, `ratelimit: the mode is "on": want enforce, shadow or off`},
		{"too long", request("PUT", target, strings.Repeat(" ", 128<<10)+body), 413, "The override is too long."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				board, guard, overrides := newEditable(t)
				status, text := serve(board, tt.request)
				if status != tt.status || text != tt.text {
					t.Errorf("answer %d %s\nwant   %d %s", status, text, tt.status, tt.text)
				}
				if got := admitted(t, guard, "a"); got != 2 {
					t.Errorf("%d calls go on, want 2 as before", got)
				}
				if all, _ := overrides.Load(t.Context()); all.Mode != nil || len(all.Limits) != 0 {
					t.Errorf("the store has %v, want nothing", all)
				}
			})
		})
	}
}

// Without an authorizer, or a store, nothing can be seen or changed, whatever is sent.
func TestNothingCanBeChangedWithoutAnAuthorizer(t *testing.T) {
	everyone := func(*http.Request) (string, bool) { return "", true }
	for name, opt := range map[string]dashboard.Option{
		"no option":     dashboard.ShowKeys(),
		"no authorizer": dashboard.EditWith(ratelimit.NewOverrides(), nil),
		"no store":      dashboard.EditWith(nil, everyone),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				board, limiter := newBoard(t, memlimit.New(), opt)
				limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy:{@user}", Limit: perMinute(2)})
				for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
					for _, target := range []string{"/overrides", "/override?limit=shop.Shop.Buy%231m", "/mode"} {
						if status, text := serve(board, request(method, target, `{"count":5}`)); status != http.StatusNotFound {
							t.Errorf("%s %s is answered %d %s, want 404", method, target, status, text)
						}
					}
				}
				if o := look(t, board); o.limits[0].Edit {
					t.Error("the page is told that the limit can be changed")
				}
			})
		})
	}
}

var errStore = errors.New("the store is away")

// broken is an OverrideStore that is away.
type broken struct{}

func (broken) Load(context.Context) (*ratelimit.Overrides, error)     { return nil, errStore }
func (broken) Set(context.Context, string, *ratelimit.Override) error { return errStore }
func (broken) SetMode(context.Context, *ratelimit.Mode) error         { return errStore }

func TestAStoreThatIsAwayIsToldToTheEditor(t *testing.T) {
	board, limiter := newBoard(t, memlimit.New(), dashboard.EditWith(broken{}, func(*http.Request) (string, bool) { return "ann", true }))
	limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy:{@user}", Limit: perMinute(2)})
	for _, r := range []*http.Request{
		request("PUT", "/override?limit=shop.Shop.Buy%231m", `{"count":5}`), request("PUT", "/mode", `"off"`),
	} {
		if status, text := serve(board, r); status != http.StatusBadGateway || text != "The change was not made: the store is away" {
			t.Errorf("%s is answered %d %s", r.URL, status, text)
		}
	}
	if status, text := serve(board, request("GET", "/overrides", "")); status != http.StatusBadGateway || text != "The overrides cannot be read: the store is away" {
		t.Errorf("answer %d %s", status, text)
	}
}

// A change is written down with who made it.
func TestChangesAreLogged(t *testing.T) {
	var log strings.Builder
	logTo(t, &log)
	board, _, _ := newEditable(t)
	serve(board, request("PUT", "/override?limit=shop.Shop.Buy%231m", `{"count":5}`))
	serve(board, request("DELETE", "/override?limit=shop.Shop.Buy%231m", ""))
	var lines []map[string]any
	for line := range strings.Lines(log.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) != 2 || lines[0]["what"] != buy || lines[0]["by"] != "ann" || lines[0]["to"] != `{"count":5}` || lines[1]["to"] != "null" {
		t.Errorf("the log is\n%s", log.String())
	}
}

// So are those who tried, but not each look of who may only look on.
func TestRefusedChangesAreLogged(t *testing.T) {
	var log strings.Builder
	logTo(t, &log)
	board, _, _ := newEditable(t)
	serve(board, request("GET", "/overrides", "", header("Authorization", "none")))
	serve(board, request("PUT", "/mode", `"off"`, header("Authorization", "none")))
	serve(board, request("DELETE", "/override?limit=shop.Shop.Buy%231m", "", header("Sec-Fetch-Site", "cross-site")))
	var got []string
	for line := range strings.Lines(log.String()) {
		var l struct{ Level, Msg, What, By, From, Why string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join([]string{l.Level, l.Msg, l.What, l.By, l.From, l.Why}, "|"))
	}
	want := []string{
		"WARN|ratelimit: a change of overrides on the dashboard was refused|mode|ann|192.0.2.1:1234|not authorized",
		"WARN|ratelimit: a change of overrides on the dashboard was refused|" + buy + "||192.0.2.1:1234|cross-origin request detected from Sec-Fetch-Site header",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
