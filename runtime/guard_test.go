package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// script is a Store that answers with what a test tells it to and keeps what it was asked.
type script struct {
	ratelimit.Store // the methods that no test here may reach
	answers         []ratelimit.Result
	err             error
	asked           []ratelimit.Charge
	keys            []string
}

func (s *script) Take(_ context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	s.asked = append(s.asked, charges...)
	for _, c := range charges {
		s.keys = append(s.keys, string(c.Key))
	}
	if s.err != nil {
		return s.err
	}
	for i := range results {
		results[i] = ratelimit.Result{Allowed: true, Limit: charges[i].Limit.Capacity()}
	}
	copy(results, s.answers)
	return nil
}

func newLimiter(t *testing.T, s ratelimit.Store, opts ...ratelimit.Option) *ratelimit.Limiter {
	t.Helper()
	l, err := ratelimit.New(s, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var fivePerSecond = ratelimit.Limit{Count: 5, Period: time.Second}

func TestMissingCallerAttribute(t *testing.T) {
	tests := []struct {
		name    string
		onEmpty ratelimit.Empty
		ctx     context.Context
		want    string   // error
		keys    []string // asked of the store
	}{
		{
			"deny", ratelimit.EmptyDeny, t.Context(),
			`users.Get: rate limit exceeded: limit 1s goes by the caller's "ip", which the context does not hold`, nil,
		},
		{
			"an empty value is missing", ratelimit.EmptyDeny, ratelimit.WithCaller(t.Context(), "ip", ""),
			`users.Get: rate limit exceeded: limit 1s goes by the caller's "ip", which the context does not hold`, nil,
		},
		{
			"an invalid address is missing", ratelimit.EmptyDeny, ratelimit.WithClientIP(t.Context(), netip.Addr{}),
			`users.Get: rate limit exceeded: limit 1s goes by the caller's "ip", which the context does not hold`, nil,
		},
		{"share", ratelimit.EmptyShare, t.Context(), "", []string{"get:", "all"}},
		{"allow leaves the other limits", ratelimit.EmptyAllow, t.Context(), "", []string{"all"}},
		{"attribute called ip", ratelimit.EmptyDeny, ratelimit.WithCaller(t.Context(), "ip", "unix:1"), "", []string{"get:unix%3A1", "all"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s script
			err := newLimiter(t, &s).Guard("users.Get",
				ratelimit.Rule{Key: "get:{@ip}", Limit: fivePerSecond, OnEmpty: tt.onEmpty},
				ratelimit.Rule{Key: "all", Name: "all", Limit: fivePerSecond},
			).Allow(tt.ctx)
			checkError(t, err, tt.want)
			if !reflect.DeepEqual(s.keys, tt.keys) {
				t.Errorf("asked about %q, want %q", s.keys, tt.keys)
			}
			if tt.want == "" {
				return
			}
			var refused *ratelimit.LimitError
			if !errors.Is(err, ratelimit.ErrLimited) || !errors.As(err, &refused) || refused.Missing != "ip" || refused.RetryAfter() != ratelimit.Never {
				t.Errorf("error %#v: want a LimitError for the missing ip that no wait can help", err)
			}
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("error\n got %s\nwant %s", got, want)
	}
}

func TestRefusalTellsOfTheLongestWait(t *testing.T) {
	second := ratelimit.Limit{Count: 1, Period: time.Second}
	minute := ratelimit.Limit{Count: 9, Period: time.Minute}
	s := script{answers: []ratelimit.Result{
		{Limit: 1, RetryAfter: 300 * time.Millisecond, ResetAfter: time.Second},
		{Allowed: true, Limit: 5, Remaining: 4},
		{Limit: 9, RetryAfter: 20 * time.Second, ResetAfter: time.Minute},
	}}
	err := newLimiter(t, &s).Guard("users.Get",
		ratelimit.Rule{Key: "a", Limit: second},
		ratelimit.Rule{Key: "a", Name: "burst", Limit: fivePerSecond},
		ratelimit.Rule{Key: "b", Limit: minute, Cost: 3, Status: 503, Message: "come back later"},
	).Allow(t.Context())

	checkError(t, err, "users.Get: rate limit exceeded: limit 1m admits the call in 20s")
	want := &ratelimit.LimitError{
		Method: "users.Get", Name: "1m", Key: "b", Limit: minute, Result: s.answers[2], Status: 503, Message: "come back later",
		Refused: []ratelimit.Outcome{{Name: "1s", Limit: second, Result: s.answers[0]}, {Name: "1m", Limit: minute, Result: s.answers[2]}},
	}
	var got *ratelimit.LimitError
	if !errors.As(err, &got) || !reflect.DeepEqual(got, want) {
		t.Errorf("refusal\n got %+v\nwant %+v", got, want)
	}
	if got.RetryAfter() != 20*time.Second {
		t.Errorf("RetryAfter() = %v, want 20s", got.RetryAfter())
	}
}

func TestRefusalOfAnImpossibleCost(t *testing.T) {
	s := script{answers: []ratelimit.Result{{Limit: 5, Remaining: 5, RetryAfter: ratelimit.Never}}}
	err := newLimiter(t, &s).Guard("users.Get", ratelimit.Rule{Key: "a", Limit: fivePerSecond, Cost: 6}).Allow(t.Context())
	checkError(t, err, "users.Get: rate limit exceeded: limit 1s can never admit this cost: its capacity is 5")
}

func TestCost(t *testing.T) {
	for cost, want := range map[int64]int64{0: 1, 1: 1, 7: 7, ratelimit.Free: 0} {
		var s script
		if err := newLimiter(t, &s).Guard("m", ratelimit.Rule{Key: "a", Limit: fivePerSecond, Cost: cost}).Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.asked[0].Cost; got != want {
			t.Errorf("Rule.Cost %d: charged %d, want %d", cost, got, want)
		}
	}
}

func TestInvalidRuleLetsNothingPass(t *testing.T) {
	rule := func(change func(*ratelimit.Rule)) []ratelimit.Rule {
		r := ratelimit.Rule{Key: "k", Limit: fivePerSecond}
		change(&r)
		return []ratelimit.Rule{r}
	}
	const syntax = "want text with {@name} for caller attributes, {text} for parts of the call, and {{ or }} for a brace"
	tests := []struct {
		name  string
		rules []ratelimit.Rule
		want  string
	}{
		{"no key", rule(func(r *ratelimit.Rule) { r.Key = "" }), "ratelimit: Rule.Key is empty"},
		{"lone brace", rule(func(r *ratelimit.Rule) { r.Key = "a}" }), `ratelimit: Rule.Key is "a}": ` + syntax},
		{"open hole", rule(func(r *ratelimit.Rule) { r.Key = "a{@ip" }), `ratelimit: Rule.Key is "a{@ip": ` + syntax},
		{"empty hole", rule(func(r *ratelimit.Rule) { r.Key = "a{@}" }), `ratelimit: Rule.Key is "a{@}": ` + syntax},
		{"empty part", rule(func(r *ratelimit.Rule) { r.Key = "a{}" }), `ratelimit: Rule.Key is "a{}": ` + syntax},
		{"hole in a hole", rule(func(r *ratelimit.Rule) { r.Key = "{a{b}}" }), `ratelimit: Rule.Key is "{a{b}}": ` + syntax},
		{"wait", rule(func(r *ratelimit.Rule) { r.Wait = -1 }), "ratelimit: Rule.Wait is -1ns: want at most 87600h0m0s, in whole microseconds"},
		{
			"wait for too much", rule(func(r *ratelimit.Rule) { r.Limit.Count, r.Wait = 1_000_000, time.Hour }),
			"ratelimit: Rule.Wait is 1h0m0s: 1000000 per 1s come to more than 1000000000 in that time",
		},
		{"no limit", rule(func(r *ratelimit.Rule) { r.Limit.Count = 0 }), "ratelimit: Limit.Count is 0: want 1 to 1000000000"},
		{"cost", rule(func(r *ratelimit.Rule) { r.Cost = -2 }), "ratelimit: Rule.Cost is -2: want at least 1, 0 for 1, or Free"},
		{"name", rule(func(r *ratelimit.Rule) { r.Name = `a"` }), `ratelimit: Rule.Name is "a\"": want letters, digits, '_', '-' and '.'`},
		{"on empty", rule(func(r *ratelimit.Rule) { r.OnEmpty = 9 }), "ratelimit: Rule.OnEmpty is 9: want EmptyDeny, EmptyShare or EmptyAllow"},
		{"mode", rule(func(r *ratelimit.Rule) { r.Mode = 9 }), "ratelimit: Rule.Mode is 9: want ModeEnforce, ModeShadow or ModeOff"},
		{"fail", rule(func(r *ratelimit.Rule) { r.Fail = "shut" }), `ratelimit: Rule.Fail is "shut": want FailLocal, FailOpen or FailClosed, or nothing`},
		{"status", rule(func(r *ratelimit.Rule) { r.Status = 200 }), "ratelimit: Rule.Status is 200: want 400 to 999, or 0 for 429"},
		{"two of one name", []ratelimit.Rule{{Key: "a", Limit: fivePerSecond}, {Key: "b", Limit: fivePerSecond}}, `ratelimit: two limits are named "1s"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s script
			err := newLimiter(t, &s, ratelimit.OnFailure(ratelimit.FailOpen)).Guard("m", tt.rules...).Allow(t.Context())
			checkError(t, err, "m: rate limit undecided: "+tt.want)
			if errors.Is(err, ratelimit.ErrLimited) || len(s.asked) != 0 {
				t.Errorf("a mistake counts as a refusal, or the store was asked: %v", s.keys)
			}
		})
	}
}

func TestNilLimiterLetsNothingPass(t *testing.T) {
	const want = "ratelimit: no store: make Limiters by New and decorators by their constructors"
	var limiter *ratelimit.Limiter
	checkError(t, limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: fivePerSecond}).Allow(t.Context()), "m: rate limit undecided: "+want)
	checkError(t, new(ratelimit.Limiter).Guard("m", ratelimit.Rule{Key: "k", Limit: fivePerSecond}).Allow(t.Context()), "m: rate limit undecided: "+want)
	_, err := limiter.Allow(t.Context(), "k", fivePerSecond)
	checkError(t, err, "rate limit undecided: "+want)
	optional := limiter.Guard("m", ratelimit.Rule{Key: "k:{@user}", Limit: fivePerSecond, OnEmpty: ratelimit.EmptyAllow})
	checkError(t, optional.Allow(t.Context()), "m: rate limit undecided: "+want)
	var guard *ratelimit.Guard
	checkError(t, guard.Allow(t.Context()), "rate limit undecided: "+want)
	checkError(t, new(ratelimit.Guard).Allow(t.Context()), "rate limit undecided: "+want)
}

type recorder struct{ lines []string }

func (r *recorder) Record(method string, outcomes []ratelimit.Outcome) {
	for _, o := range outcomes {
		line := fmt.Sprintf("%s %s %v %d", method, o.Name, o.Result.Allowed, o.Result.Remaining)
		if o.Shadow {
			line += " shadow"
		}
		r.lines = append(r.lines, line)
	}
}

func TestRecorderSeesEachDecision(t *testing.T) {
	s := script{answers: []ratelimit.Result{{Allowed: true, Limit: 5, Remaining: 4}, {Allowed: true, Limit: 9, Remaining: 8}}}
	g := newLimiter(t, &s).Guard("users.Get", ratelimit.Rule{Key: "a", Limit: fivePerSecond}, ratelimit.Rule{Key: "a", Name: "long", Limit: fivePerSecond})
	var r recorder
	ctx := ratelimit.WithRecorder(t.Context(), &r)
	if err := g.Allow(ctx); err != nil {
		t.Fatal(err)
	}
	s.answers[1].Allowed, s.answers[1].Remaining = false, 0
	if err := g.Allow(ctx); !errors.Is(err, ratelimit.ErrLimited) {
		t.Fatalf("error %v, want a refusal", err)
	}
	want := []string{"users.Get 1s true 4", "users.Get long true 8", "users.Get 1s true 4", "users.Get long false 0"}
	if !reflect.DeepEqual(r.lines, want) {
		t.Errorf("recorded %q, want %q", r.lines, want)
	}
}

func TestRecordersAddUp(t *testing.T) {
	var outer, inner recorder
	ctx := ratelimit.WithRecorder(ratelimit.WithRecorder(t.Context(), &outer), &inner)
	if _, err := newLimiter(t, &script{}).Allow(ctx, "k", fivePerSecond); err != nil {
		t.Fatal(err)
	}
	if want := []string{" 1s true 0"}; !reflect.DeepEqual(outer.lines, want) || !reflect.DeepEqual(inner.lines, want) {
		t.Errorf("recorded %q outside and %q inside, want %q", outer.lines, inner.lines, want)
	}
}

func TestAnUnknownClientHidesTheOneBefore(t *testing.T) {
	ctx := ratelimit.WithClientIP(t.Context(), netip.MustParseAddr("192.0.2.1"))
	if addr, ok := ratelimit.ClientIP(ratelimit.WithClientIP(ctx, netip.Addr{})); ok {
		t.Errorf("client %v, want none", addr)
	}
}

func TestLimiterAllow(t *testing.T) {
	var s script
	l := newLimiter(t, &s)
	if _, err := l.AllowN(t.Context(), "a:b", ratelimit.Limit{Count: 5, Period: 90 * time.Second}, 3); err != nil {
		t.Fatal(err)
	}
	if c := s.asked[0]; s.keys[0] != "a%3Ab" || c.Name != "1m30s" || c.Cost != 3 {
		t.Errorf("charged %q, %+v", s.keys[0], c)
	}
	_, err := l.AllowN(t.Context(), "k", fivePerSecond, -1)
	checkError(t, err, "rate limit undecided: ratelimit: Charge.Cost is -1: want at least 0")
	_, err = l.Allow(t.Context(), "k", ratelimit.Limit{Count: 5})
	checkError(t, err, "rate limit undecided: ratelimit: Limit.Period is 0s: want 1ms to 87600h0m0s")
}

func TestLimitIsNamedForItsPeriod(t *testing.T) {
	for period, want := range map[time.Duration]string{
		time.Second: "1s", 500 * time.Millisecond: "500ms", 10 * time.Minute: "10m", 90 * time.Second: "1m30s",
		time.Hour: "1h", time.Hour + time.Second: "1h0m1s", 20 * time.Hour: "20h", 24 * time.Hour: "24h",
	} {
		var s script
		if _, err := newLimiter(t, &s).Allow(t.Context(), "k", ratelimit.Limit{Count: 1, Period: period}); err != nil {
			t.Fatal(err)
		}
		if got := s.asked[0].Name; got != want {
			t.Errorf("limit of %v is named %q, want %q", period, got, want)
		}
	}
}

func TestNew(t *testing.T) {
	_, err := ratelimit.New(nil)
	checkError(t, err, "ratelimit: no store: make Limiters by New and decorators by their constructors")
	_, err = ratelimit.New(&script{}, nil)
	checkError(t, err, "ratelimit: option 1 is nil: want an Option")
	_, err = ratelimit.New(&script{}, ratelimit.OnFailure("shut"))
	checkError(t, err, `ratelimit: OnFailure("shut"): want FailLocal, FailOpen or FailClosed`)
	_, err = ratelimit.New(&script{}, ratelimit.LocalStore(nil))
	checkError(t, err, "ratelimit: LocalStore(nil): want a Store")
	_, err = ratelimit.New(&script{}, ratelimit.Instances(0))
	checkError(t, err, "ratelimit: Instances(0): want at least 1")
}

func TestMostExhausted(t *testing.T) {
	allowed := func(name string, remaining, limit int64, reset time.Duration) ratelimit.Outcome {
		return ratelimit.Outcome{Name: name, Result: ratelimit.Result{Allowed: true, Remaining: remaining, Limit: limit, ResetAfter: reset}}
	}
	refused := func(name string, retry time.Duration) ratelimit.Outcome {
		return ratelimit.Outcome{Name: name, Result: ratelimit.Result{Remaining: 1, Limit: 9, RetryAfter: retry}}
	}
	tests := []struct {
		name     string
		outcomes []ratelimit.Outcome
		want     string
	}{
		{"none", nil, ""},
		{"smallest share left", []ratelimit.Outcome{allowed("a", 5, 10, 1), allowed("b", 40, 100, 1), allowed("c", 9, 10, 1)}, "b"},
		{"equal shares: longest until new", []ratelimit.Outcome{allowed("a", 1, 2, 1), allowed("b", 2, 4, 2), allowed("c", 4, 8, 1)}, "b"},
		{"a refusal before all else", []ratelimit.Outcome{allowed("a", 0, 10, 9), refused("b", 1), refused("c", 2), allowed("d", 0, 10, 9)}, "c"},
		{"never is the longest wait", []ratelimit.Outcome{refused("a", ratelimit.Never), refused("b", 2)}, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ratelimit.MostExhausted(tt.outcomes).Name; got != tt.want {
				t.Errorf("MostExhausted = %q, want %q", got, tt.want)
			}
		})
	}
}
