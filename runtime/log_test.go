package ratelimit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// logged collects a log without its times.
type logged struct{ bytes.Buffer }

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// check compares what was logged since the last time.
func (l *logged) check(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.TrimSuffix(l.String(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("logged\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	l.Reset()
}

func (l *logged) limiter(t *testing.T, store ratelimit.Store, opts ...ratelimit.Option) *ratelimit.Limiter {
	t.Helper()
	return newLimiter(t, store, append(opts, ratelimit.Observe(ratelimit.Log(l.logger())))...)
}

func TestLogHasARefusalOncePerKeyAndPeriod(t *testing.T) {
	in(t, func(t *testing.T) {
		var log logged
		minute := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Minute}
		l := log.limiter(t, memlimit.New())
		a := l.Guard("a", ratelimit.Rule{Key: "k:{@user}", Limit: minute})
		b := l.Guard("b", ratelimit.Rule{Key: "k:{@user}", Limit: minute, Name: "b"})
		for range 3 * 60 {
			for _, user := range []string{"ann", "bob"} {
				_ = a.Allow(ratelimit.WithCaller(t.Context(), "user", user))
			}
			_ = b.Allow(ratelimit.WithCaller(t.Context(), "user", "ann"))
			time.Sleep(time.Second)
		}
		line := func(method, limit, user, after string) string {
			return fmt.Sprintf(`level=INFO msg="rate limit exceeded" method=%s limit=%s key=k:%s retry_after=%s`, method, limit, user, after)
		}
		log.check(
			t,
			line("a", "1m", "ann", "59s"), line("a", "1m", "bob", "59s"), line("b", "b", "ann", "59s"),
			line("a", "1m", "ann", "59s"), line("a", "1m", "bob", "59s"), line("b", "b", "ann", "59s"),
			line("a", "1m", "ann", "59s"), line("a", "1m", "bob", "59s"), line("b", "b", "ann", "59s"),
		)
	})
}

// A period of a millisecond is no reason for a thousand lines a second.
func TestLogHasARefusalOnceASecondAtMost(t *testing.T) {
	in(t, func(t *testing.T) {
		var log logged
		g := log.limiter(t, memlimit.New()).Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1, Period: time.Millisecond}})
		for range 2000 {
			_, _ = g.Allow(t.Context()), g.Allow(t.Context())
			time.Sleep(time.Millisecond)
		}
		line := `level=INFO msg="rate limit exceeded" method=m limit=1ms key=k retry_after=1ms`
		log.check(t, line, line)
	})
}

func TestLogOfWhatIsNoPlainRefusal(t *testing.T) {
	in(t, func(t *testing.T) {
		var log logged
		limit := ratelimit.Limit{Count: 1, Period: time.Hour}
		l := log.limiter(t, memlimit.New())
		shadow := l.Guard("shadow", ratelimit.Rule{Key: "s", Limit: limit, Mode: ratelimit.ModeShadow})
		missing := l.Guard("missing", ratelimit.Rule{Key: "m:{@ip}", Limit: limit})
		large := l.Guard("large", ratelimit.Rule{Key: "l", Limit: limit, Cost: 2})
		for range 3 {
			_, _, _ = shadow.Allow(t.Context()), missing.Allow(t.Context()), large.Allow(t.Context())
			_, _ = l.Allow(t.Context(), "a:b", limit)
		}
		log.check(
			t,
			`level=INFO msg="rate limit exceeded" method=missing limit=1h key=""`,
			`level=INFO msg="rate limit exceeded" method=large limit=1h key=l`,
			`level=INFO msg="rate limit exceeded" method=shadow limit=1h key=s retry_after=1h0m0s shadow=true`,
			`level=INFO msg="rate limit exceeded" method="" limit=1h key=a%3Ab retry_after=1h0m0s`,
		)
	})
}

// An attack from a hundred thousand addresses is not a hundred thousand lines, nor as many keys in memory.
func TestLogOfMoreKeysThanItKeeps(t *testing.T) {
	in(t, func(t *testing.T) {
		var log logged
		l := log.limiter(t, memlimit.New())
		g := l.Guard("m", ratelimit.Rule{Key: "k:{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Cost: 2})
		flood := func(from, to int) {
			for i := from; i < to; i++ {
				_ = g.Allow(ratelimit.WithCaller(t.Context(), "user", fmt.Sprint(i)))
			}
		}
		flood(0, 10_000)
		if lines := strings.Count(log.String(), "\n"); lines != 10_000 {
			t.Errorf("%d lines, want 10000", lines)
		}
		log.Reset()
		more := func(n int) string {
			return fmt.Sprintf(`level=INFO msg="rate limit exceeded by more keys than are told apart" refusals=%d`, n)
		}
		flood(0, 100_000)
		log.check(t, more(1))
		time.Sleep(time.Minute)
		flood(10_000, 11_000)
		log.check(t, more(90_000))
		time.Sleep(time.Hour - time.Minute)
		flood(99_999, 100_000) // now there is room
		log.check(t, `level=INFO msg="rate limit exceeded" method=m limit=1h key=k:99999`)
	})
}

// What a flood is refused by a limit of a day does not hide for a day what other limits refuse.
func TestLogOfALimitBesideAFlood(t *testing.T) {
	in(t, func(t *testing.T) {
		var log logged
		l := log.limiter(t, memlimit.New())
		day := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: 24 * time.Hour}
		signup := l.Guard("signup", ratelimit.Rule{Key: "s:{@user}", Limit: day, Cost: 2})
		search := l.Guard("search", ratelimit.Rule{Key: "f:{@user}", Limit: day, Cost: 2})
		pay := l.Guard("pay", ratelimit.Rule{Key: "p", Limit: ratelimit.Limit{Count: 1, Period: time.Second}})
		flood := func(g *ratelimit.Guard) {
			for i := range 20_000 {
				_ = g.Allow(ratelimit.WithCaller(t.Context(), "user", fmt.Sprint(i)))
			}
		}
		lines := func(method string, want int) {
			t.Helper()
			if got := strings.Count(log.String(), `exceeded" method=`+method); got != want {
				t.Errorf("%d lines of %s, want %d", got, method, want)
			}
		}
		flood(signup)
		flood(search)
		lines("signup", 10_000)
		lines("search", 5000)
		for range 60 {
			_, _ = pay.Allow(t.Context()), pay.Allow(t.Context())
			time.Sleep(time.Minute)
		}
		lines("pay", 60)
		log.Reset()
		flood(signup) // an hour later, those that still are refused are news
		lines("signup", 10_000)
	})
}

// unsure is a store whose outages a test tells.
type unsure struct {
	*memlimit.Store
	report func(server string, away bool, err error)
}

func (u *unsure) WatchOutages(report func(server string, away bool, err error)) (stop func()) {
	u.report = report
	return func() {}
}

func TestLogOfOutages(t *testing.T) {
	var log logged
	store := &unsure{Store: memlimit.New()}
	limiter := log.limiter(t, store)
	store.report("10.0.0.1:6379", true, errDown)
	store.report("10.0.0.1:6379", false, nil)
	store.report("10.0.0.2:6379", false, errors.New("it has no keys any more"))
	log.check(
		t,
		`level=WARN msg="rate limit: the store is away" server=10.0.0.1:6379 error="connection refused"`,
		`level=INFO msg="rate limit: the store is back" server=10.0.0.1:6379`,
		`level=INFO msg="rate limit: the store goes on without a server" server=10.0.0.2:6379 error="it has no keys any more"`,
	)
	checkError(t, limiter.Guard("m", rule(fivePerSecond)).Allow(t.Context()), "")
}

func TestLogOfOverrides(t *testing.T) {
	var log logged
	observer := ratelimit.Log(log.logger())
	for _, e := range []ratelimit.Event{
		{Err: fmt.Errorf("of a file: %w", &ratelimit.OverridesError{Err: errors.New("limits.yaml:3:5: unknown field")})},
		{Err: errors.New("open limits.yaml: permission denied")},
		{},
		{Gone: true},
	} {
		e.Kind = ratelimit.EventOverrides
		observer.Observe(t.Context(), &e)
	}
	log.check(
		t,
		`level=WARN msg="rate limit: overrides refused" error="of a file: limits.yaml:3:5: unknown field"`,
		`level=WARN msg="rate limit: overrides not read" error="open limits.yaml: permission denied"`,
		`level=INFO msg="rate limit: overrides taken"`,
		`level=WARN msg="rate limit: overrides are gone"`,
	)
}

// Unless somebody observes, what goes wrong is in the program's log, and what is refused is not.
func TestDefaultLog(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	in(t, func(t *testing.T) {
		tests := []struct {
			name string
			opts []ratelimit.Option
			want []string
		}{
			{"default", nil, []string{
				`level=WARN msg="rate limit: the store is away" server="" error="connection refused"`,
				`level=WARN msg="rate limit" method=m error="connection refused"`,
			}},
			{"nobody", []ratelimit.Option{ratelimit.Observe()}, nil},
			{"somebody else", []ratelimit.Option{ratelimit.Observe(&events{})}, nil},
		}
		for _, tt := range tests {
			var log logged
			store := &unsure{Store: memlimit.New()}
			l := newLimiter(t, store, append(tt.opts, ratelimit.LocalStore(memlimit.New()))...)
			slog.SetDefault(log.logger()) // after the Limiter was made
			g := l.Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
			_, _ = g.Allow(t.Context()), g.Allow(t.Context())
			store.report("", true, errDown)
			down := newLimiter(t, failing(func() error { return errDown }), tt.opts...)
			_ = down.Guard("m", ratelimit.Rule{Key: "k", Limit: fivePerSecond}).Allow(t.Context())
			log.check(t, tt.want...)
		}
	})
}

// A panic of an Observer is logged once a minute, with where it came from.
func TestPanicOfAnObserverIsLogged(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	in(t, func(t *testing.T) {
		var log logged
		slog.SetDefault(log.logger())
		panics := observe(func(context.Context, *ratelimit.Event) { panic("an observer's") })
		g := newLimiter(t, memlimit.New(), ratelimit.Observe(panics)).Guard("m", rule(fivePerSecond))
		for range 61 {
			checkError(t, g.Allow(t.Context()), "")
			time.Sleep(time.Second)
		}
		text := log.String()
		if n := strings.Count(text, "\n"); n != 2 {
			t.Errorf("%d lines, want 2", n)
		}
		const want = `level=ERROR msg="ratelimit: an Observer panicked" event=decision panic="an observer's" stack="goroutine `
		if !strings.HasPrefix(text, want) || !strings.Contains(text, "log_test.go") {
			t.Errorf("logged %.300s", text)
		}
	})
}

// However many are refused at once, each key is one line.
func TestLogOfRefusalsAtOnce(t *testing.T) {
	const callers, keys = 16, 100
	var log logged
	g := log.limiter(t, memlimit.New()).Guard("m", ratelimit.Rule{Key: "k:{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Cost: 2})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := range keys * callers {
				_ = g.Allow(ratelimit.WithCaller(t.Context(), "user", fmt.Sprint(i%keys)))
			}
		})
	}
	wg.Wait()
	lines := map[string]int{}
	for line := range strings.Lines(log.String()) {
		lines[line]++
	}
	if n := strings.Count(log.String(), "\n"); n != keys || len(lines) != keys {
		t.Errorf("%d lines, %d of them different: want %d", n, len(lines), keys)
	}
}
