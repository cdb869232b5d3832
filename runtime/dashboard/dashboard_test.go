package dashboard_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func perMinute(count int64) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: time.Minute}
}

func ofUser(ctx context.Context, name string) context.Context {
	return ratelimit.WithCaller(ctx, "user", name)
}

func TestFiguresOfEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, limiter := newBoard(t, memlimit.New())
		guard := limiter.Guard("shop.Shop.Buy",
			ratelimit.Rule{Key: "buy:{@user}", Name: "user", Limit: perMinute(2)},
			ratelimit.Rule{Key: "buy", Name: "all", Limit: perMinute(4)},
			ratelimit.Rule{Key: "new", Name: "new", Limit: perMinute(1), Mode: ratelimit.ModeShadow})
		o := look(t, board)
		if got := len(o.limits); got != 3 {
			t.Fatalf("%d limits before any call, want 3", got)
		}
		for _, user := range []string{"a", "a", "a", "b", "b", "c"} { // the third of a and c are refused
			_ = guard.Allow(ofUser(t.Context(), user))
		}
		o.next("second")
		for id, want := range map[string]point{
			"shop.Shop.Buy#user": {6, 1, 0, 0},
			"shop.Shop.Buy#all":  {6, 1, 0, 0},
			"shop.Shop.Buy#new":  {4, 0, 3, 0}, // it is asked about calls that go on
		} {
			if got := o.of(id); got != want {
				t.Errorf("%s: %v, want %v", id, got, want)
			}
		}
		if want := (point{6, 2, 3, 0}); o.second.Total != want { // calls of several limits are counted once
			t.Errorf("all: %v, want %v", o.second.Total, want)
		}
		o.next("second")
		if want := (point{}); o.second.Total != want || len(o.second.Limits) != 0 {
			t.Errorf("a second without calls: all %v, %d limits with figures", o.second.Total, len(o.second.Limits))
		}

		_ = guard.Allow(ofUser(t.Context(), "d"))
		late := look(t, board)
		want := []point{{6, 2, 3, 0}, {}}
		if !slices.Equal(late.history.Total, want) {
			t.Errorf("who comes later is told %v of all, want %v", late.history.Total, want)
		}
		if got, want := late.history.Limits["shop.Shop.Buy#all"], []point{{6, 1, 0, 0}, {}}; !slices.Equal(got, want) {
			t.Errorf("who comes later is told %v of a limit, want %v", got, want)
		}
		time.Sleep(10 * time.Minute)
		if got := look(t, board).history; len(got.Total) != 0 || len(got.Limits) != 0 {
			t.Errorf("after ten quiet minutes there is still %v", got)
		}
	})
}

// A method whose limits all look on is shown with its calls.
func TestCallsOfLimitsThatOnlyLookOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, limiter := newBoard(t, memlimit.New())
		guard := limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy", Limit: perMinute(1), Mode: ratelimit.ModeShadow})
		o := look(t, board)
		for range 3 {
			if err := guard.Allow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		o.next("second")
		if want := (point{3, 0, 2, 0}); o.second.Total != want {
			t.Errorf("all: %v, want %v", o.second.Total, want)
		}
	})
}

var errAway = errors.New("dial redis.example.com for rl:{buy:alice}:fw:1m: no route")

// failing is a Store that cannot decide.
type failing struct{ *memlimit.Store }

func (failing) Take(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errAway }

func TestStoreErrorsOfAMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, limiter := newBoard(t, failing{memlimit.New()})
		open := limiter.Guard("shop.Shop.See", ratelimit.Rule{Key: "see", Limit: perMinute(1), Fail: ratelimit.FailOpen})
		closed := limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy", Limit: perMinute(1), Fail: ratelimit.FailClosed})
		o := look(t, board)
		_ = open.Allow(t.Context())
		_, _ = closed.Allow(t.Context()), closed.Allow(t.Context())
		o.next("second")
		// No limit has decided anything.
		if got, want := o.of("shop.Shop.See#1m"), (point{0, 0, 0, 1}); got != want {
			t.Errorf("See: %v, want %v", got, want)
		}
		if got, want := o.of("shop.Shop.Buy#1m"), (point{0, 0, 0, 2}); got != want {
			t.Errorf("Buy: %v, want %v", got, want)
		}
		if want := (point{0, 0, 0, 3}); o.second.Total != want {
			t.Errorf("all: %v, want %v", o.second.Total, want)
		}
		if strings.Contains(o.text.String(), "alice") {
			t.Errorf("the text of an error names a key:\n%s", o.text.String())
		}
	})
}

// slow is a Store that takes its time.
type slow struct {
	*memlimit.Store
	takes *time.Duration
}

func (s slow) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	time.Sleep(*s.takes)
	return s.Store.Take(ctx, charges, results)
}

func TestHowLongDecisionsTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes := time.Millisecond
		board, limiter := newBoard(t, slow{memlimit.New(), &takes})
		guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: perMinute(1000)})
		o := look(t, board)
		calls := func(n int) {
			for range n {
				_ = guard.Allow(t.Context())
			}
		}
		calls(97)
		takes = 50 * time.Millisecond
		calls(3)
		o.next("second")
		if got := o.second; got.Median < 1000 || got.Median > 1250 || got.Most < 50_000 || got.Most > 62_500 {
			t.Errorf("half take %d µs at most and 99%% %d µs, want about 1,000 and 50,000", got.Median, got.Most)
		}
		o.next("second")
		if got := o.second; got.Median != 0 || got.Most != 0 {
			t.Errorf("without calls they take %d and %d µs, want 0", got.Median, got.Most)
		}
	})
}

func TestLimitsThatComeWithACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, limiter := newBoard(t, memlimit.New())
		o := look(t, board)
		if _, err := limiter.Allow(t.Context(), "reports", perMinute(1)); err != nil {
			t.Fatal(err)
		}
		o.next("second")
		if got, want := o.of("#1m"), (point{1, 0, 0, 0}); got != want {
			t.Errorf("figures %v, want %v", got, want)
		}
		want := rule{Count: 1, Time: "1m", Mode: "enforce"}
		if l := o.limits[0]; l.Algorithm != "fixed-window" || l.Holds != want {
			t.Errorf("the limit is %+v, want %+v", l, want)
		}
	})
}

func TestRulesInTheWordsOfTheDirective(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tests := []struct {
			limit ratelimit.Limit
			want  rule
		}{
			{ratelimit.Limit{Count: 5, Period: time.Second}, rule{Count: 5, Time: "1s"}},
			{ratelimit.Limit{Count: 5, Period: 90 * time.Second, Burst: 9}, rule{Count: 5, Time: "1m30s", Burst: 9}},
			{ratelimit.Limit{Count: 5, Period: time.Minute, Burst: 5}, rule{Count: 5, Time: "1m"}},
			{ratelimit.Limit{Count: 5, Period: time.Hour}, rule{Count: 5, Time: "1h"}},
			{ratelimit.Limit{Count: 5, Period: 10 * time.Minute}, rule{Count: 5, Time: "10m"}},
			{ratelimit.Limit{Count: 5, Period: 7 * 24 * time.Hour}, rule{Count: 5, Time: "7d"}},
			{ratelimit.Limit{Count: 5, Period: 25 * time.Hour}, rule{Count: 5, Time: "25h"}},
			{ratelimit.Limit{Count: 5, Period: 1500 * time.Microsecond}, rule{Count: 5, Time: "1.5ms"}},
		}
		for _, tt := range tests {
			board, limiter := newBoard(t, memlimit.New())
			limiter.Guard("m", ratelimit.Rule{Key: "k", Name: "n", Limit: tt.limit})
			tt.want.Mode = "enforce"
			if got := look(t, board).limits[0].Holds; got != tt.want {
				t.Errorf("%+v is shown as %+v, want %+v", tt.limit, got, tt.want)
			}
		}
	})
}

func TestKeysAreHashed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, clear := range []bool{false, true} {
			var opts []dashboard.Option
			if clear {
				opts = append(opts, dashboard.ShowKeys())
			}
			board, limiter := newBoard(t, memlimit.New(), opts...)
			guard := limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy:{@user}", Limit: perMinute(1)})
			o := look(t, board)
			for range 3 {
				_, _ = guard.Allow(ofUser(t.Context(), "alice")), guard.Allow(ofUser(t.Context(), "bob"))
			}
			_ = guard.Allow(ofUser(t.Context(), "bob"))
			_ = guard.Allow(t.Context()) // without a user there is no key
			o.next("second")
			if got := len(o.second.Keys); got != 2 {
				t.Fatalf("%d keys, want 2", got)
			}
			bob, alice := o.second.Keys[0], o.second.Keys[1]
			if bob.Refused != 3 || alice.Refused != 2 || bob.Limit != "shop.Shop.Buy#1m" {
				t.Errorf("the keys are %v: want bob with 3 refusals before alice with 2", o.second.Keys)
			}
			if clear {
				if bob.Key != "buy:bob" || alice.Key != "buy:alice" {
					t.Errorf("the keys are %v, want buy:bob and buy:alice", o.second.Keys)
				}
				continue
			}
			for _, name := range []string{"alice", "bob"} {
				if strings.Contains(o.text.String(), name) {
					t.Errorf("the page is told of %s:\n%s", name, o.text.String())
				}
			}
			o.next("second")
			if again := o.second.Keys[0]; again != bob || !strings.HasPrefix(bob.Key, "#") || bob.Key == alice.Key {
				t.Errorf("bob is %q, then %q, alice %q: want hashes that stay and differ", bob.Key, again.Key, alice.Key)
			}
		}
	})
}

// After six minutes a key that is not refused any more is not shown.
func TestKeysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, limiter := newBoard(t, memlimit.New())
		guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: perMinute(1)})
		_, _ = guard.Allow(t.Context()), guard.Allow(t.Context())
		for minutes, want := range []int{1, 1, 1, 1, 1, 1, 0} {
			o := look(t, board)
			o.next("second")
			if got := len(o.second.Keys); got != want {
				t.Errorf("%d keys after %d minutes, want %d", got, minutes, want)
			}
			time.Sleep(time.Minute)
		}
	})
}

// What cannot be seen, or would turn the text around it, is shown as an escape: callers choose parts of keys.
func TestInvisibleCharactersOfKeysAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, limiter := newBoard(t, memlimit.New(), dashboard.ShowKeys())
		guard := limiter.Guard("m", ratelimit.Rule{Key: "{@user}", Limit: perMinute(1)})
		for range 2 {
			_ = guard.Allow(ofUser(t.Context(), "a\u202etxt\u2066.exe\u200bé\xff"))
		}
		board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventTrouble, Err: errors.New("key \u202eb")})
		o := look(t, board)
		o.next("second")
		if got, want := o.second.Keys[0].Key, `a\u202etxt\u2066.exe\u200bé\xff`; got != want {
			t.Errorf("the key is shown as %q, want %q", got, want)
		}
		if got, want := o.second.News[0].Detail, `key \u202eb`; got != want {
			t.Errorf("the error is shown as %q, want %q", got, want)
		}
	})
}

// P10: each key was a label of the metrics. A hundred thousand keys take no more memory than a few, and the heavy ones are found
// among them.
func TestManyKeys(t *testing.T) {
	board, limiter := newBoard(t, memlimit.New(memlimit.MaxKeys(1000)), dashboard.ShowKeys())
	guard := limiter.Guard("m", ratelimit.Rule{Key: "{@user}", Limit: perMinute(1), Cost: 1})
	refuse := func(user string) {
		ctx := ofUser(t.Context(), user)
		_, _ = guard.Allow(ctx), guard.Allow(ctx)
	}
	refuse("warm")
	before := heap()
	keys := 100_000
	if testing.Short() {
		keys = 10_000
	}
	for i := range keys {
		refuse(fmt.Sprintf("user-%d", i))
		if i%20 == 0 {
			refuse("heavy")
		}
	}
	if more := int64(heap() - before); more > 512<<10 {
		t.Errorf("%d more bytes after %d keys, want at most half a megabyte", more, keys)
	}
	o := look(t, board)
	o.next("second")
	if top, want := o.second.Keys[0], keys/10; top.Key != "heavy" || top.Refused < want*9/10 || top.Refused > want*11/10 {
		t.Errorf("the most refused key is %v, want heavy with about %d refusals", top, want)
	}
}

// A program that makes up names as it runs is shown with some of them.
func TestManyMethodsAndLimits(t *testing.T) {
	board := dashboard.New()
	defer board.Close()
	tell := func(method, name string) {
		board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventDecision, Method: method, Outcomes: []ratelimit.Outcome{
			{Name: name, Limit: perMinute(1), Result: ratelimit.Result{Allowed: true}},
		}})
	}
	before := heap()
	for i := range 2000 {
		tell(fmt.Sprintf("method-%d", i), "1s")
		tell("method-0", fmt.Sprintf("limit-%d", i))
	}
	o := look(t, board)
	o.next("second")
	if got, want := len(o.limits), 1000+64+1; got > want {
		t.Errorf("%d limits are shown, want at most %d", got, want)
	}
	if more, most := int64(heap()-before), int64(len(o.limits)*12<<10); more > most { // what its doc comment says, and the stream
		t.Errorf("%d limits take %d bytes, want at most %d", len(o.limits), more, most)
	}
	if o.second.Total[0]+sum(o.history.Total) != 4000 {
		t.Errorf("%d calls, want 4000, the others' included", o.second.Total[0]+sum(o.history.Total))
	}
}

func sum(points []point) (n int) {
	for _, p := range points {
		n += p[0]
	}
	return n
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestOutagesAndNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, _ := newBoard(t, memlimit.New())
		o := look(t, board)
		board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventOutage, Server: "r1:6379", Away: true, Err: errAway})
		board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventTrouble, Method: "m", Err: errAway})
		board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventTrouble, Method: "m", Err: errAway})
		o.next("second")
		if got := fmt.Sprint(o.second.Servers); got != "[{r1:6379 true}]" {
			t.Errorf("servers %v, want r1:6379 away", got)
		}
		board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventOutage, Server: "r1:6379"})
		o.next("second")
		if got := fmt.Sprint(o.second.Servers); got != "[{r1:6379 false}]" {
			t.Errorf("servers %v, want r1:6379 back", got)
		}
		if got, want := fmt.Sprint(o.second.News), "[{outage r1:6379  false 1} {trouble m  true 2} {outage r1:6379  true 1}]"; got != want {
			t.Errorf("news %v, want %v", got, want)
		}
		for i := range 1000 {
			board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventOutage, Server: fmt.Sprintf("r%d", i), Away: i%2 == 0})
		}
		o.next("second")
		if s, n := len(o.second.Servers), len(o.second.News); s != 64 || n != 20 {
			t.Errorf("%d servers and %d news, want 64 and 20", s, n)
		}
	})
}

func TestNobodyIsKeptWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, _ := newBoard(t, memlimit.New())
		slow := look(t, board)
		for range 99 {
			look(t, board)
		}
		w := httptest.NewRecorder()
		board.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", nil))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("one more than a hundred is answered %d %v, want 503 with Retry-After", w.Code, w.Header())
		}
		time.Sleep(20 * time.Second) // nobody reads
		for {
			if _, err := slow.events.ReadString('\n'); err != nil {
				break
			}
		}
		look(t, board).next("second") // there is a place again
	})
}

// Figures are told to nobody, and counted all the same, once the Dashboard is closed.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board, limiter := newBoard(t, memlimit.New())
		o := look(t, board)
		board.Close()
		board.Close()
		if _, err := o.events.ReadString('\n'); err == nil {
			t.Error("a stream goes on after Close")
		}
		if _, err := limiter.Allow(t.Context(), "k", perMinute(1)); err != nil {
			t.Error(err)
		}
		w := httptest.NewRecorder()
		board.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", nil))
		if w.Code != http.StatusServiceUnavailable {
			t.Errorf("a stream after Close is answered %d, want 503", w.Code)
		}
	})
}

// stream begins to read what the page is told by a server, until the test ends.
func stream(t *testing.T, server *httptest.Server) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return bufio.NewScanner(resp.Body)
}

// A server whose page is open shuts down at once, with nothing registered by the program.
func TestShutdownOfTheServer(t *testing.T) {
	board, _ := newBoard(t, memlimit.New())
	server := httptest.NewServer(board)
	t.Cleanup(server.Close)
	stream(t, server)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 2 {
		if err := server.Config.Shutdown(ctx); err != nil {
			t.Errorf("the server does not shut down: %v", err)
		}
	}
}

// The page is told each second by servers that give requests less time.
func TestTimeoutsOfTheServer(t *testing.T) {
	board, _ := newBoard(t, memlimit.New())
	server := httptest.NewUnstartedServer(board)
	server.Config.ReadTimeout, server.Config.WriteTimeout = 700*time.Millisecond, 700*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	events := stream(t, server)
	for seconds := 0; seconds < 2; {
		if !events.Scan() {
			t.Fatalf("the stream ends after %d seconds: %v", seconds, events.Err())
		}
		if events.Text() == "event: second" {
			seconds++
		}
	}
}

func TestStreamsThatCannotBe(t *testing.T) {
	board, _ := newBoard(t, memlimit.New())
	if status, text := serve(board, request("HEAD", "/events", "")); status != http.StatusOK || text != "" {
		t.Errorf("HEAD is answered %d %q, want 200", status, text)
	}
	w := httptest.NewRecorder()
	board.ServeHTTP(struct{ http.ResponseWriter }{w}, request("GET", "/events", "")) // which has no Flush
	if want := "this server cannot stream: feature not supported\n"; w.Code != http.StatusInternalServerError || w.Body.String() != want {
		t.Errorf("a server that cannot stream answers %d %q, want 500 %q", w.Code, w.Body, want)
	}
}

// allowedCall is what a Dashboard is told of a call that goes on.
func allowedCall() *ratelimit.Event {
	return &ratelimit.Event{
		Kind: ratelimit.EventDecision, Method: "shop.Shop.Buy", Took: time.Microsecond,
		Outcomes: []ratelimit.Outcome{{Name: "1m", Limit: perMinute(1), Result: ratelimit.Result{Allowed: true}}},
	}
}

func TestACallThatGoesOnAllocatesNothing(t *testing.T) {
	board := dashboard.New()
	defer board.Close()
	ctx, e := t.Context(), allowedCall()
	if n := testing.AllocsPerRun(1000, func() { board.Observe(ctx, e) }); n != 0 {
		t.Errorf("%v allocations a call, want none", n)
	}
}
