package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// deniedStep is one of a random history: after a pause, a call for some buckets.
type deniedStep struct {
	do      string
	pause   string // how long: any, or one that has to do with what the last refusal said
	any     time.Duration
	charges []ratelimit.Charge
	changed bool // whether a limit is not the bucket's first
}

func (s deniedStep) String() string {
	text := fmt.Sprintf("after %s (%v) %s", s.pause, s.any, s.do)
	for _, c := range s.charges {
		text += fmt.Sprintf(" %s %+v cost=%d wait=%v fresh=%t holder=%q", c.Key, c.Limit, c.Cost, c.Wait, c.Fresh, c.Holder)
	}
	return text
}

// deniedHistory is what is drawn of one.
type deniedHistory struct {
	steps   []deniedStep
	costs   string // all one, each bucket's own, or any
	seed    uint64 // of the delays
	longest int    // of them, in microseconds
}

// drawDenied draws limits, two for each of three buckets, and what is done to them.
func drawDenied(t *rapid.T) (h deniedHistory) {
	costs := rapid.SampledFrom([]string{"one", "equal", "any"}).Draw(t, "costs")
	type bucketOf struct {
		limits []ratelimit.Limit
		cost   int64
	}
	buckets := make([]bucketOf, 3)
	for i := range buckets {
		b := &buckets[i]
		algorithm := rapid.SampledFrom([]ratelimit.Algorithm{
			ratelimit.TokenBucket, ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow,
			ratelimit.LeakyBucket, ratelimit.Concurrency,
		}).Draw(t, "algorithm")
		for range 2 {
			l := ratelimit.Limit{
				Algorithm: algorithm,
				Count:     rapid.Int64Range(1, 5).Draw(t, "count"),
				Period: rapid.SampledFrom([]time.Duration{time.Second, 100 * time.Millisecond, time.Minute, time.Millisecond}).Draw(t, "about") +
					time.Duration(rapid.Int64Range(0, 9999).Draw(t, "more"))*time.Microsecond,
			}
			if algorithm == ratelimit.TokenBucket || algorithm == ratelimit.LeakyBucket {
				l.Burst = rapid.Int64Range(0, 7).Draw(t, "burst")
			}
			if algorithm == ratelimit.TokenBucket {
				l.Refill = rapid.SampledFrom([]ratelimit.Refill{ratelimit.Greedy, ratelimit.Interval}).Draw(t, "refill")
			}
			b.limits = append(b.limits, l)
		}
		b.cost = rapid.Int64Range(1, 4).Draw(t, "cost")
	}
	steps := make([]deniedStep, rapid.IntRange(30, 60).Draw(t, "steps"))
	for i := range steps {
		s := &steps[i] // small numbers, and what comes first in a list, are drawn more often
		s.do = rapid.SampledFrom([]string{"take", "take", "take", "take", "take", "take", "take", "peek", "refund", "reset"}).Draw(t, "do")
		s.pause = rapid.SampledFrom([]string{"least", "least", "half", "almost", "retry", "any", "none"}).Draw(t, "pause")
		s.any = time.Duration(rapid.Int64Range(0, 2_000_000).Draw(t, "any")) * time.Microsecond
		for _, j := range rapid.SampledFrom([][]int{{0}, {0}, {0}, {1}, {0, 1}, {0, 1}, {2, 0}, {0, 1, 2}}).Draw(t, "of") {
			b := buckets[j]
			c := ratelimit.Charge{Key: fmt.Appendf(nil, "bucket%d", j), Name: "limit", Limit: b.limits[0], Cost: 1, Holder: "ann"}
			if rapid.IntRange(0, 9).Draw(t, "changed") == 9 {
				c.Limit, s.changed = b.limits[1], true
			}
			switch costs {
			case "equal":
				c.Cost = b.cost
			case "any":
				c.Cost = rapid.SampledFrom([]int64{1, 2, 3, 4, 5, 6, 0}).Draw(t, "units")
			}
			if burst := c.Limit.Algorithm == ratelimit.TokenBucket || c.Limit.Algorithm == ratelimit.LeakyBucket; burst && rapid.IntRange(0, 9).Draw(t, "waits") == 9 {
				c.Wait = s.any
			}
			c.Fresh = rapid.IntRange(0, 19).Draw(t, "fresh") == 19
			s.charges = append(s.charges, c)
		}
	}
	seed, longest := rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]int{100, 10_000, 100_000}).Draw(t, "longest delay")
	return deniedHistory{steps, costs, seed, longest}
}

// deniedPlayer does one step of a history, and returns what was answered and whether that was from memory.
type deniedPlayer func(i int, s deniedStep) (results []ratelimit.Result, known bool, err error)

// playDenied plays histories, each on an empty server in fake time by a player of its own, that begin makes.
func playDenied(t *testing.T, begin func(t *testing.T, h deniedHistory, server *miniredis.Miniredis, client *redis.Client, sent func() int) deniedPlayer) {
	t.Helper()
	server := miniredis.RunT(t)
	known := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := drawDenied(rt)
		server.FlushAll()
		var failed error
		inStep(t, server, func(t *testing.T, client *redis.Client, sent func() int) {
			play := begin(t, h, server, client, sent)
			retry := time.Duration(0)
			for i, s := range h.steps {
				time.Sleep(s.wait(retry))
				results, fromMemory, err := play(i, s)
				if err != nil {
					failed = fmt.Errorf("step %d: %w", i, err)
					return
				}
				if fromMemory {
					known++
				}
				for _, r := range results {
					if !r.Allowed {
						retry = r.RetryAfter
					}
				}
			}
		})
		if failed != nil {
			rt.Fatalf("%v\n%v", failed, h.steps)
		}
	})
	t.Logf("%d calls were refused from memory", known)
	if known == 0 {
		t.Error("nothing was answered from memory")
	}
}

// Whatever this process does, a Store that remembers refusals lets pass and refuses what one without memory does.
func TestRememberedRefusalsAreThoseOfRedis(t *testing.T) {
	playDenied(t, func(t *testing.T, h deniedHistory, _ *miniredis.Miniredis, client *redis.Client, sent func() int) deniedPlayer {
		plain := redislimit.NewPatient(client, redislimit.Prefix("plain:"), redislimit.DenyCache(0))
		store := redislimit.New(client, redislimit.Timeout(time.Minute))
		warm(t, store)
		sent()
		return func(_ int, s deniedStep) ([]ratelimit.Result, bool, error) {
			got, err := s.perform(t.Context(), store)
			asked := sent() > 0
			want, wantErr := s.perform(t.Context(), plain)
			sent()
			if (err == nil) != (wantErr == nil) {
				return nil, false, errors.Join(err, wantErr)
			}
			if err := differ(s.charges, got, want, asked, h.costs); err != nil {
				return nil, false, fmt.Errorf("%w\ngot  %+v\nwant %+v", err, got, want)
			}
			return want, !asked, nil
		}
	})
}

// differ returns an error if results differ in what a remembered refusal promises.
func differ(charges []ratelimit.Charge, got, want []ratelimit.Result, asked bool, costs string) error {
	if asked {
		if !slices.Equal(got, want) {
			return fmt.Errorf("Redis was asked, and answered something else")
		}
		return nil
	}
	if !isRefused(want) || !isRefused(got) {
		return fmt.Errorf("not asked: refused %t, want %t", isRefused(got), isRefused(want))
	}
	longest := 0
	for i := range got {
		if got[i].RetryAfter > got[longest].RetryAfter {
			longest = i
		}
		if got[i].At != want[i].At || got[i].Limit != want[i].Limit {
			return fmt.Errorf("not asked: another time or limit")
		}
	}
	g, w, c := got[longest], want[longest], charges[longest]
	exact := costs != "any"
	switch {
	case g.Allowed || w.Allowed:
		return fmt.Errorf("not asked: another limit refuses")
	case g.ResetAfter != w.ResetAfter:
		return fmt.Errorf("not asked: ResetAfter %v, want %v", g.ResetAfter, w.ResetAfter)
	case g.RetryAfter != w.RetryAfter && (exact || g.RetryAfter > w.RetryAfter):
		return fmt.Errorf("not asked: RetryAfter %v, want %v", g.RetryAfter, w.RetryAfter)
	case g.Remaining != w.Remaining && (c.Cost == 1 || c.Limit.Algorithm == ratelimit.FixedWindow || g.Remaining > w.Remaining):
		return fmt.Errorf("not asked: Remaining %d, want %d", g.Remaining, w.Remaining)
	}
	return nil
}

func isRefused(results []ratelimit.Result) bool {
	return slices.ContainsFunc(results, func(r ratelimit.Result) bool { return !r.Allowed })
}

// wait returns how long the step waits before it is done.
func (s deniedStep) wait(retry time.Duration) time.Duration {
	if retry == ratelimit.Never {
		retry = 0
	}
	switch s.pause {
	case "least":
		return time.Microsecond
	case "any":
		return s.any
	case "half":
		return (retry / 2).Truncate(time.Microsecond)
	case "almost":
		return max(0, retry-time.Microsecond)
	case "retry":
		return retry
	}
	return 0
}

func (s deniedStep) perform(ctx context.Context, store ratelimit.Store) ([]ratelimit.Result, error) {
	results := make([]ratelimit.Result, len(s.charges))
	switch s.do {
	case "peek":
		return results, store.Peek(ctx, s.charges, results)
	case "refund":
		return nil, store.Refund(ctx, s.charges)
	case "reset":
		return nil, store.Reset(ctx, s.charges)
	}
	return results, store.Take(ctx, s.charges, results)
}

// Whoever is refused from memory would be by Redis, were it asked at that moment, however long questions and replies take
// and whatever others, who have no such memory, are admitted to meanwhile.
func TestRememberedRefusalsWouldBeOnesNow(t *testing.T) {
	playDenied(t, func(t *testing.T, h deniedHistory, server *miniredis.Miniredis, client *redis.Client, _ func() int) deniedPlayer {
		delays := rand.New(rand.NewPCG(h.seed, 0))
		slow := redis.NewClient(&redis.Options{Addr: server.Addr()})
		t.Cleanup(func() { _ = slow.Close() })
		slow.AddHook(&delayed{delay: func() { time.Sleep(time.Duration(1+delays.IntN(h.longest)) * time.Microsecond) }})
		slow.AddHook(&intercept{answer: func(redis.Cmder) (bool, error) { server.SetTime(time.Now()); return false, nil }})
		other := redislimit.NewPatient(client, redislimit.DenyCache(0))
		store := redislimit.New(slow, redislimit.Timeout(time.Minute)) // to connect is several commands
		warm(t, store)
		return func(i int, s deniedStep) ([]ratelimit.Result, bool, error) {
			if s.do == "refund" || s.do == "reset" || i%4 == 0 {
				if s.do = "take"; !s.changed {
					_, _ = s.perform(t.Context(), other)
				}
				return nil, false, nil
			}
			now := deniedStep{do: "peek", charges: s.charges}
			want, err := now.perform(t.Context(), other)
			if err != nil {
				return nil, false, err
			}
			before := time.Now()
			got, err := s.perform(t.Context(), store)
			known := s.do == "take" && time.Now().Equal(before)
			if known && (!isRefused(got) || !isRefused(want)) {
				err = fmt.Errorf("refused from memory %t, by Redis %t\ngot  %+v\nwant %+v", isRefused(got), isRefused(want), got, want)
			}
			return got, known, err
		}
	})
}

// delayed takes time for each command, and for its reply.
type delayed struct{ delay func() }

func (d *delayed) DialHook(next redis.DialHook) redis.DialHook { return next }
func (d *delayed) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (d *delayed) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		d.delay()
		err := next(ctx, cmd)
		d.delay()
		return err
	}
}
