package ratelimit_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// sharedRule is a limit that methods share.
var sharedRule = ratelimit.Rule{Key: "shared", Name: "1h", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 100, Period: time.Hour}}

const putID, postID = "m.Put#1h", "m.Post#1h"

// holds compares how the limits of a Limiter hold, in the order of their ids.
func holds(t *testing.T, l *ratelimit.Limiter, want ...ratelimit.Limit) {
	t.Helper()
	for i, info := range l.Limits() {
		if got := info.Holds.Limit; got != want[i] {
			t.Errorf("%s holds as %+v, want %+v", info.ID, got, want[i])
		}
	}
}

func limitsOf(o map[string]ratelimit.Override) *ratelimit.Overrides {
	all := &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{}}
	for id := range o {
		all.Limits[id] = new(o[id])
	}
	return all
}

func TestOverrideOfOneMethodVoidsTheLimitOfAnotherThatSharesItsBucket(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow, ratelimit.LeakyBucket,
	} {
		t.Run(algorithm.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter, ctx, rule := newLimiter(t, memlimit.New()), t.Context(), sharedRule
				rule.Limit.Algorithm = algorithm
				put, post := limiter.Guard("m.Put", rule), limiter.Guard("m.Post", rule)
				override(t, limiter, overrides(putID, ratelimit.Override{Count: 1, Period: 10 * time.Second}))
				total := 0
				for range 6 {
					total += passed(t, ctx, post, 10) + passed(t, ctx, put, 10)
					time.Sleep(10 * time.Second)
				}
				if total > 6 || total < 3 { // a sliding window estimates
					t.Errorf("%d calls are admitted in a minute, want one in ten seconds", total)
				}
			})
		})
	}
}

func TestNumbersOfABucketAreThoseOfAllWhoShareIt(t *testing.T) {
	window := func(count int64, period time.Duration) ratelimit.Limit {
		return ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}
	}
	directive := window(100, time.Hour)
	limiter := newLimiter(t, memlimit.New())
	limiter.Guard("m.Post", sharedRule)
	limiter.Guard("m.Put", sharedRule)
	override(t, limiter, limitsOf(map[string]ratelimit.Override{putID: {Count: 5, Mode: new(ratelimit.ModeShadow)}, postID: {Period: time.Minute}}))
	holds(t, limiter, window(5, time.Minute), window(5, time.Minute))
	if modes := limiter.Limits(); modes[0].Holds.Mode != ratelimit.ModeEnforce || modes[1].Holds.Mode != ratelimit.ModeShadow {
		t.Errorf("the modes are %v and %v, want each its own", modes[0].Holds.Mode, modes[1].Holds.Mode)
	}
	wantError(t, limiter.Override(limitsOf(map[string]ratelimit.Override{putID: {Count: 5}, postID: {Count: 6}})),
		putID+": count is 5, and 6 of m.Post#1h, which shares its buckets: want them equal, or one of them")
	wantError(t, limiter.Override(limitsOf(map[string]ratelimit.Override{putID: {Period: time.Minute}, postID: {Period: time.Second, Count: 1}})),
		putID+": time is 1m0s, and 1s of m.Post#1h, which shares its buckets: want them equal, or one of them")

	// One that is made later shares them, too.
	limiter.Guard("m.Another", sharedRule)
	holds(t, limiter, window(5, time.Minute), window(5, time.Minute), window(5, time.Minute))

	// What is said last of one of them is said of all.
	override(t, limiter, nil)
	first, last := ratelimit.NewOverrides(), ratelimit.NewOverrides()
	for _, source := range []ratelimit.OverrideSource{first, last} {
		if err := limiter.Watch(t.Context(), source); err != nil {
			t.Fatal(err)
		}
	}
	set := func(store *ratelimit.LocalOverrides, id string, o *ratelimit.Override) error {
		return store.Set(t.Context(), id, o)
	}
	for _, step := range []struct {
		store *ratelimit.LocalOverrides
		id    string
		o     *ratelimit.Override
		want  ratelimit.Limit
	}{
		{first, postID, &ratelimit.Override{Count: 7}, window(7, time.Hour)},
		{last, putID, &ratelimit.Override{Count: 8}, window(8, time.Hour)},
		{last, putID, &ratelimit.Override{}, directive},
		{last, putID, nil, window(7, time.Hour)},
		{first, postID, nil, directive},
	} {
		if err := set(step.store, step.id, step.o); err != nil {
			t.Fatal(err)
		}
		holds(t, limiter, step.want, step.want, step.want)
	}
	if err := set(first, postID, &ratelimit.Override{Count: 7}); err != nil {
		t.Fatal(err)
	}
	wantError(t, set(first, putID, &ratelimit.Override{Count: 6}), putID+": count is 6, and 7 of m.Post#1h, which shares its buckets: want them equal, or one of them")
}

func TestOneThatSharesABucketCannotHaveWhatIsSaidOfAnother(t *testing.T) {
	costly := sharedRule
	costly.Cost = 5
	limiter := newLimiter(t, memlimit.New())
	limiter.Guard("m.Put", sharedRule)
	limiter.Guard("m.Post", costly)
	wantError(t, limiter.Override(overrides(putID, ratelimit.Override{Count: 4})),
		putID+": m.Post#1h, which shares its buckets: the capacity is 4: want at least what a call costs, 5")
	holds(t, limiter, sharedRule.Limit, sharedRule.Limit)

	// If it is made later, that is told, and all of them hold as the directives say.
	var told overrideEvents
	limiter = newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
	put, ctx := limiter.Guard("m.Put", sharedRule), t.Context()
	override(t, limiter, overrides(putID, ratelimit.Override{Count: 4}))
	told.expect(t, "taken")
	expect(t, "alone", passed(t, ctx, put, 10), 4)
	limiter.Guard("m.Post", costly)
	holds(t, limiter, sharedRule.Limit, sharedRule.Limit)
	want := "ratelimit: override of m.Post#1h: the capacity is 4: want at least what a call costs, 5"
	told.expect(t, want)
	expect(t, "with another", passed(t, ctx, put, 100), 96)
	told.expect(t, want) // of this method, too
}

// What a limit cannot have for another is its numbers: one that is off stays so.
func TestOneThatIsOffRefusesOnceAnotherSharesItsBucket(t *testing.T) {
	costly := sharedRule
	costly.Cost = 5
	limiter, ctx := newLimiter(t, memlimit.New(), ratelimit.Observe()), t.Context()
	put := limiter.Guard("m.Put", sharedRule)
	ann := ratelimit.CallerOverride{By: map[string]string{"user": "ann"}, Count: 3, Mode: new(ratelimit.ModeEnforce)}
	override(t, limiter, overrides(putID, ratelimit.Override{
		Count: 4, Mode: new(ratelimit.ModeOff), Fail: ratelimit.FailClosed, Callers: []ratelimit.CallerOverride{ann},
	}))
	limiter.Guard("m.Post", costly)
	holds(t, limiter, sharedRule.Limit, sharedRule.Limit)
	if got := limiter.Limits()[1].Holds; got.Mode != ratelimit.ModeOff || got.Fail != ratelimit.FailClosed {
		t.Errorf("%s holds with mode %v and fail %v, want off and closed", putID, got.Mode, got.Fail)
	}
	expect(t, "off", passed(t, ctx, put, 101), 101)
	expect(t, "ann, of what the directive allows", passed(t, ratelimit.WithCaller(ctx, "user", "ann"), put, 101), 100)
}

// A count that is said of one limit holds for the other, too, as long as nobody says another of either.
func TestModeOfOneLimitWipesTheCountOfAnother(t *testing.T) {
	const fromFirst, directive = 5, 100
	mode := new(ratelimit.ModeShadow)
	for _, test := range []struct {
		name string
		last map[string]ratelimit.Override
		want int64
	}{
		{"a mode", map[string]ratelimit.Override{putID: {Mode: mode}}, fromFirst},
		{"who shall fail", map[string]ratelimit.Override{putID: {Fail: ratelimit.FailClosed}}, fromFirst},
		{"callers", map[string]ratelimit.Override{putID: {Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "ann"}, Mode: mode}}}}, fromFirst},
		{"a count", map[string]ratelimit.Override{putID: {Count: 6}}, 6},
		{"the directive", map[string]ratelimit.Override{putID: {}}, directive},
		{"a mode in place of the count", map[string]ratelimit.Override{postID: {Mode: mode}}, directive},
	} {
		t.Run(test.name, func(t *testing.T) {
			limiter := newLimiter(t, memlimit.New())
			limiter.Guard("m.Post", sharedRule)
			limiter.Guard("m.Put", sharedRule)
			first := ratelimit.NewOverrides()
			if err := errors.Join(limiter.Watch(t.Context(), first), first.Set(t.Context(), postID, &ratelimit.Override{Count: fromFirst})); err != nil {
				t.Fatal(err)
			}
			override(t, limiter, limitsOf(test.last))
			want := sharedRule.Limit
			want.Count = test.want
			holds(t, limiter, want, want)
		})
	}
}

// Which algorithms are in order with a count for some who share a bucket, the errors say: this is why.
func TestCallersCountLiftsTheLimitOfOthers(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow, ratelimit.LeakyBucket,
	} {
		t.Run(algorithm.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := newLimiter(t, memlimit.New())
				guard := limiter.Guard("m.Get", ratelimit.Rule{Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: algorithm, Count: 10, Period: time.Minute}})
				alice := ratelimit.CallerOverride{By: map[string]string{"user": "alice"}, Count: 1000}
				if algorithm == ratelimit.TokenBucket {
					wantError(t, limiter.Override(overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{alice}})),
						getID+", callers 1: count is 1000: want none, since callers share buckets whatever their user")
					alice.Count, alice.Burst = 0, 1000
				}
				override(t, limiter, overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{alice}}))
				ctx, others := ratelimit.WithCaller(t.Context(), "user", "alice"), 0
				for range 60 {
					passed(t, ctx, guard, 1)
					others += passed(t, t.Context(), guard, 100)
					time.Sleep(time.Second)
				}
				if others > 20 {
					t.Errorf("%d calls of others are admitted in a minute, want at most those of 10 a minute, and a burst of 10", others)
				}
			})
		})
	}
}

func TestCallersTimeVoidsTheLimitOfOthers(t *testing.T) {
	by := func(names ...string) map[string]string {
		values := map[string]string{}
		for _, name := range names {
			values[name] = "10.0.0.1"
		}
		return values
	}
	const second = time.Second
	rule := func(key string, algorithm ratelimit.Algorithm) ratelimit.Rule {
		return ratelimit.Rule{Key: key, Name: "1s", Limit: ratelimit.Limit{Algorithm: algorithm, Count: 100, Period: time.Hour}}
	}
	for _, test := range []struct {
		name    string
		rule    ratelimit.Rule
		callers []ratelimit.CallerOverride
		want    string
	}{
		{
			"a bucket of all", rule("get", ratelimit.TokenBucket),
			[]ratelimit.CallerOverride{{By: by("user"), Period: second}},
			", callers 1: time is 1s: want none, since callers share buckets whatever their user",
		},
		{
			"a bucket of all is refilled by its count", rule("get", ratelimit.TokenBucket),
			[]ratelimit.CallerOverride{{By: by("user"), Count: 9, Burst: 9}},
			", callers 1: count is 9: want none, since callers share buckets whatever their user",
		},
		{
			"both at once", rule("get", ratelimit.TokenBucket),
			[]ratelimit.CallerOverride{{By: by("user"), Count: 9, Period: second}},
			", callers 1: count is 9: want none, since callers share buckets whatever their user\n" +
				"time is 1s: want none, since callers share buckets whatever their user",
		},
		{"a burst is all the same", rule("get", ratelimit.TokenBucket), []ratelimit.CallerOverride{{By: by("user"), Burst: 9}}, ""},
		{"a count of a window is all the same", rule("get", ratelimit.FixedWindow), []ratelimit.CallerOverride{{By: by("user"), Count: 9}}, ""},
		{"a count of a leaky bucket is all the same", rule("get", ratelimit.LeakyBucket), []ratelimit.CallerOverride{{By: by("user"), Count: 9}}, ""},
		{"a lease is that of one call", rule("get", ratelimit.Concurrency), []ratelimit.CallerOverride{{By: by("user"), Period: second}}, ""},
		{"a bucket of its own", rule("get:{@user}:{@ip}:{id}", ratelimit.TokenBucket), []ratelimit.CallerOverride{{By: by("user", "ip"), Count: 9, Period: second}}, ""},
		{
			"one attribute is not in the key", rule("get:{@user}", ratelimit.TokenBucket),
			[]ratelimit.CallerOverride{{By: by("user", "tenant"), Period: second}},
			", callers 1: time is 1s: want none, since callers share buckets whatever their tenant",
		},
		{
			"what a call gives is no attribute", rule("get:{user}", ratelimit.TokenBucket),
			[]ratelimit.CallerOverride{{By: by("user"), Period: second}},
			", callers 1: time is 1s: want none, since callers share buckets whatever their user",
		},
		{
			"an entry that some of the bucket match before", rule("get:{@ip}", ratelimit.TokenBucket),
			[]ratelimit.CallerOverride{{By: by("user"), Burst: 9}, {By: by("ip"), Period: second}},
			", callers 2: time is 1s: want none, since callers share buckets whatever their user, by which callers 1 goes",
		},
		{"or after", rule("get:{@ip}", ratelimit.TokenBucket), []ratelimit.CallerOverride{{By: by("ip"), Period: second}, {By: by("user"), Burst: 9}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			limiter := newLimiter(t, memlimit.New())
			limiter.Guard("m.Get", test.rule)
			o := overrides(getID, ratelimit.Override{Callers: test.callers})
			if test.want == "" {
				override(t, limiter, o)
				return
			}
			wantError(t, limiter.Override(o), getID+test.want)
		})
	}

	limiter := newLimiter(t, memlimit.New())
	shared := sharedRule
	shared.Key = "shared:{@user}"
	limiter.Guard("m.Put", shared)
	limiter.Guard("m.Post", shared)
	wantError(t, limiter.Override(overrides(putID, ratelimit.Override{Callers: []ratelimit.CallerOverride{{By: by("user"), Period: second}}})),
		putID+", callers 1: time is 1s: want none, since it shares its buckets with m.Post#1h")
}

// A store may have said of a limit, before that was there, what it cannot have.
func TestOneLimitKeepsOthersFromBeingSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told overrideEvents
		limiter, store, ctx := newLimiter(t, memlimit.New(), ratelimit.Observe(&told)), ratelimit.NewOverrides(), t.Context()
		if err := limiter.Watch(ctx, store); err != nil {
			t.Fatal(err)
		}
		if err := store.Set(ctx, "m.Put#1h", &ratelimit.Override{Burst: 4}); err != nil {
			t.Fatal(err)
		}
		told.expect(t, "taken", "taken")
		limiter.Guard("m.Put", sharedRule)
		told.expect(t, "ratelimit: override of m.Put#1h: burst is 4: fixed-window has no burst") // before the first call
		get := limiter.Guard("m.Get", getRule)
		if err := store.Set(ctx, getID, &ratelimit.Override{Count: 9}); err != nil {
			t.Errorf("setting another limit: %v", err)
		}
		expect(t, "of nine", passed(t, ctx, get, 10), 9)
		wantError(t, store.Set(ctx, "m.Put#1h", &ratelimit.Override{Burst: 5}), "m.Put#1h: burst is 5: fixed-window has no burst")
	})
}
