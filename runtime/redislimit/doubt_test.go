package redislimit_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// away is a server that is so far away, at the other end of a client that goes by deadlines.
func away(d time.Duration) func(context.Context, string) error {
	return func(ctx context.Context, _ string) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
}

// Callers that have less time than their server takes must not take it off the path of those who have more, nor keep one
// there that answers nobody.
func TestImpatientCallers(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name    string
		server  func(context.Context, string) error
		patient time.Duration // how often somebody else calls who has time; 0 is nobody
		off     bool
	}{
		{"the server answers", away(8 * ms), 300 * ms, false},
		{"the server answers, and nobody has time", away(8 * ms), 0, false},
		{"the server is gone", away(time.Hour), 300 * ms, true},
		{"the server is gone, and nobody has time", away(time.Hour), 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				client := &fake{do: away(8 * ms)}
				var told []bool
				store := redislimit.NewOn(client, nil, redislimit.OnOutage(func(o redislimit.Outage) { told = append(told, o.Down) }))
				fails(t, store, "a", 1, "")
				client.serve(test.server)
				var callers sync.WaitGroup
				end := time.Now().Add(5 * time.Second)
				call := func(has, pause time.Duration) {
					for time.Now().Before(end) {
						ctx, cancel := context.WithTimeout(t.Context(), has)
						_, err := takeOne(ctx, store, "a")
						cancel()
						if err != nil && !test.off && has > 8*ms {
							t.Errorf("a caller who has %v: %v", has, err)
						}
						time.Sleep(pause)
					}
				}
				for range 4 {
					callers.Go(func() { call(5*ms, 5*ms) })
				}
				if test.patient > 0 {
					callers.Go(func() { call(time.Second, test.patient) })
				}
				callers.Wait()
				synctest.Wait()
				if off := slices.Equal(told, []bool{true}); off != test.off || !off && len(told) > 0 {
					t.Errorf("told %v: whether it was taken off, want %v", told, test.off)
				}
			})
		})
	}
}

// A call that its client has cut a moment before the deadline of its context is no failure either.
func TestCutAheadOfTheDeadline(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{}
		store := redislimit.NewOn(client, nil)
		for range 100 {
			client.serve(nil)
			fails(t, store, "a", 1, "")
			client.serve(func(ctx context.Context, _ string) error {
				deadline, _ := ctx.Deadline()
				time.Sleep(time.Until(deadline)) // may wake before the context does
				return context.DeadlineExceeded
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if _, err := takeOne(ctx, store, "a"); kindOf(err) != redislimit.KindTimeout {
				t.Fatal(err)
			}
		}
		client.serve(nil)
		fails(t, store, "a", 1, "")
	})
}

// A server that takes no writes still answers calls that write nothing. They must not bring it back: it would go on and
// off the path, and each time say that it is back.
func TestServerThatTakesNoWrites(t *testing.T) {
	for kind, text := range map[redislimit.Kind]string{
		redislimit.KindMemory:   "OOM command not allowed when used memory > 'maxmemory'.",
		redislimit.KindReadOnly: "READONLY You can't write against a read only replica.",
	} {
		t.Run(string(kind), func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				const full = "rl:{full}:tb:1m"
				refusal := []any{int64(1000), int64(0), int64(1), int64(1)}
				client := &fake{replies: map[string][]any{full: slices.Repeat([]any{refusal}, 10000)}}
				var told []bool
				store := redislimit.NewOn(client, nil, redislimit.OnOutage(func(o redislimit.Outage) { told = append(told, o.Down) }))
				writes := func(_ context.Context, key string) error {
					if key == full {
						return nil
					}
					return serverError(text)
				}
				client.serve(writes)
				peek := func() { _ = store.Peek(t.Context(), tb("full", 1), make([]ratelimit.Result, 1)) }
				for range 1000 {
					_, _ = takeOne(t.Context(), store, "full")
					peek()
					_, _ = takeOne(t.Context(), store, "a")
					time.Sleep(10 * time.Millisecond)
				}
				synctest.Wait()
				if !slices.Equal(told, []bool{true}) {
					t.Errorf("told %v: want once that it is off", told)
				}
				client.serve(nil)
				for range 200 {
					_, _ = takeOne(t.Context(), store, "full")
					_, _ = takeOne(t.Context(), store, "a")
					time.Sleep(10 * time.Millisecond)
				}
				synctest.Wait()
				if !slices.Equal(told, []bool{true, false}) {
					t.Errorf("told %v: want that it is back", told)
				}
				fails(t, store, "a", 1, "")
			})
		})
	}
}

// Where all are refused nobody is charged: that must not leave a server half on the path until the day ends.
func TestServerThatTakesWritesAgainAndRefusesAll(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: failing("OOM command not allowed when used memory > 'maxmemory'.")}
		var told []bool
		store := redislimit.NewOn(client, nil, redislimit.OnOutage(func(o redislimit.Outage) { told = append(told, o.Down) }))
		fails(t, store, "a", 5, redislimit.KindMemory)
		client.serve(nil)
		client.replies = map[string][]any{"rl:{a}:tb:1m": slices.Repeat([]any{[]any{int64(1000), int64(0), int64(1), int64(1)}}, 100)}
		for second := range 15 {
			time.Sleep(time.Second)
			fails(t, store, "a", 1, "")
			synctest.Wait()
			if back := len(told) > 1; back != (second >= 9) {
				t.Fatalf("told %v after %d s: want that it is back after ten", told, second+1)
			}
		}
	})
}

// A server that answers one of so many calls costs all others their budget. Those it answers must not keep it on the path.
func TestServerThatAnswersSomeCalls(t *testing.T) {
	tests := []struct {
		name    string
		answers func(n int64) bool
		pause   time.Duration // between calls
		most    int           // calls that wait in vain until it is taken off; 0 is that it is not
	}{
		{"one of two", func(n int64) bool { return n%2 == 0 }, 10 * time.Millisecond, 11},
		{"one of four", func(n int64) bool { return n%4 == 0 }, 10 * time.Millisecond, 16},
		{"one of two, where calls are rare", func(n int64) bool { return n%2 == 0 }, time.Second, 0},
		{"two of three", func(n int64) bool { return n%3 != 0 }, 10 * time.Millisecond, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				var calls atomic.Int64
				client := &fake{do: func(ctx context.Context, key string) error {
					if n := calls.Add(1); test.answers(n) {
						return nil
					}
					return hang(ctx, key)
				}}
				store := redislimit.NewOn(client, nil)
				waited, off := 0, false
				for i := 0; i < 40 && !off; i++ {
					switch _, err := takeOne(t.Context(), store, "a"); kindOf(err) {
					case redislimit.KindTimeout:
						waited++
					case redislimit.KindOutage:
						off = true
					}
					time.Sleep(test.pause)
				}
				if off != (test.most > 0) || off && waited > test.most {
					t.Errorf("%d calls waited, and whether the server was taken off then: %v", waited, off)
				}
			})
		})
	}
}

// Failures in a row are so also where calls are rare: ten seconds later they are not forgotten.
func TestRareFailuresInARow(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		store := redislimit.NewOn(&fake{do: hang}, nil)
		for range 5 {
			time.Sleep(time.Minute)
			fails(t, store, "a", 1, redislimit.KindTimeout)
		}
		fails(t, store, "a", 1, redislimit.KindOutage)
	})
}

// A server that takes no writes answers what a call that another server refuses asks of it, and that writes nothing.
func TestLookForARefusedCallBringsNoServerBack(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const spent = "rl:{spent}:tb:1m"
		refusal := []any{int64(1000), int64(0), int64(1), int64(1)}
		client := &fake{replies: map[string][]any{spent: {refusal}}}
		var told []bool
		route := func(_ context.Context, key string) (string, error) { return "node of " + key, nil }
		store := redislimit.NewOn(client, route, redislimit.OnOutage(func(o redislimit.Outage) { told = append(told, o.Down) }))
		full := failing("OOM command not allowed when used memory > 'maxmemory'.")
		client.serve(full)
		fails(t, store, "full", 5, redislimit.KindMemory)
		fails(t, store, "full", 1, redislimit.KindOutage)
		time.Sleep(time.Second)

		client.serve(nil)
		results := make([]ratelimit.Result, 2)
		if err := store.Take(t.Context(), slices.Concat(tb("spent", 1), tb("full", 1)), results); err != nil || results[0].Allowed {
			t.Fatal(results, err)
		}
		client.serve(full)
		fails(t, store, "full", 1, redislimit.KindMemory)
		fails(t, store, "full", 1, redislimit.KindOutage)
		synctest.Wait()
		if !slices.Equal(told, []bool{true}) {
			t.Errorf("told %v of the server: want once that it is down", told)
		}
	})
}

// A hook of the client may end the goroutine of the one call that finds out whether the server is back.
func TestProbeThatEndsItsGoroutine(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: hang}
		store := redislimit.NewOn(client, nil)
		fails(t, store, "a", 5, redislimit.KindTimeout)
		time.Sleep(time.Second)
		client.serve(func(context.Context, string) error { runtime.Goexit(); return nil })
		fails(t, store, "a", 1, redislimit.KindReply)
		client.serve(nil)
		fails(t, store, "a", 1, "")
	})
}

// dateless is a context that has a deadline and does not end with it.
type dateless struct{ context.Context }

func (dateless) Done() <-chan struct{} { return nil }
func (dateless) Err() error            { return nil }

func TestContextThatDoesNotEnd(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		store := redislimit.NewOn(&fake{do: hang}, nil, redislimit.Timeout(0))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		if took, err := takeOne(dateless{ctx}, store, "a"); took > 4*time.Second || kindOf(err) != redislimit.KindTimeout {
			t.Errorf("took %v, error %v: want the client's timeout", took, err)
		}
	})
}

// By Timeout(0) only the caller's context bounds a call, whatever the client does with it.
func TestWithoutTimeoutNothingOutlivesItsContext(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		var underWay atomic.Int64
		client := &fake{do: func(ctx context.Context, _ string) error {
			underWay.Add(1)
			defer underWay.Add(-1)
			<-ctx.Done()
			return ctx.Err()
		}}
		store := redislimit.NewOn(client, nil, redislimit.Timeout(0))
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, _ = takeOne(ctx, store, "a")
			cancel()
		}
		time.Sleep(time.Millisecond)
		if n := underWay.Load(); n != 0 {
			t.Errorf("%d calls go on after their contexts have ended", n)
		}
		client.serve(nil)
		fails(t, store, "a", 1, "")
	})
}
