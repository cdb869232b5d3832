package redislimit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S05: an outage is one line in the log, not one a call, and neither silent.
func TestOutageIsOneLineInTheLog(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		var log bytes.Buffer
		before := slog.Default()
		defer slog.SetDefault(before)
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))

		client := &fake{do: failing("OOM command not allowed when used memory > 'maxmemory'.")}
		store := redislimit.NewOn(client, nil)
		fails(t, store, "a", 5, redislimit.KindMemory)
		fails(t, store, "a", 1000, redislimit.KindOutage)
		client.serve(nil)
		time.Sleep(time.Second)
		fails(t, store, "a", 1000, "")
		synctest.Wait()
		const want = `level=WARN msg="ratelimit: Redis is off the path of calls until it answers" server=redis error="OOM command not allowed when used memory > 'maxmemory'."
level=INFO msg="ratelimit: Redis is back on the path of calls" server=redis
`
		if log.String() != want {
			t.Errorf("logged\n%swant\n%s", &log, want)
		}
	})
}

func TestNobodyIsTold(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: failing("LOADING Redis is loading the dataset in memory")}
		store := redislimit.NewOn(client, nil, redislimit.OnOutage(nil))
		fails(t, store, "a", 5, redislimit.KindLoading)
		fails(t, store, "a", 1, redislimit.KindOutage)
	})
}

// Transitions are told once, in order, and a report may call the Store.
func TestOutagesAreReported(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const loading = "LOADING Redis is loading the dataset in memory"
		var store *redislimit.Store
		var told []string
		client := &fake{}
		store = redislimit.NewOn(client, nil, redislimit.OnOutage(func(o redislimit.Outage) {
			_, err := takeOne(t.Context(), store, "of the report")
			told = append(told, fmt.Sprintf("%s %v %v; %q", o.Server, o.Down, o.Err, kindOf(err)))
		}))
		for range 2 {
			client.serve(failing(loading))
			fails(t, store, "a", 5, redislimit.KindLoading)
			for range 3 { // tries, in vain
				time.Sleep(2 * time.Second)
				fails(t, store, "a", 1, redislimit.KindLoading)
			}
			client.serve(nil)
			time.Sleep(2 * time.Second)
			fails(t, store, "a", 100, "")
			synctest.Wait()
		}
		down, up := "redis true "+loading+`; "outage"`, `redis false <nil>; ""`
		if want := []string{down, up, down, up}; !slices.Equal(told, want) {
			t.Errorf("told %q: want %q", told, want)
		}
	})
}

// A report that takes long is no call's to wait for.
func TestCallsDoNotWaitForReports(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: failing("LOADING Redis is loading the dataset in memory")}
		var told []bool
		store := redislimit.NewOn(client, nil, redislimit.OnOutage(func(o redislimit.Outage) {
			time.Sleep(10 * time.Second)
			told = append(told, o.Down)
		}))
		began := time.Now()
		fails(t, store, "a", 5, redislimit.KindLoading)
		fails(t, store, "a", 1000, redislimit.KindOutage)
		if d := time.Since(began); d != 200*time.Millisecond {
			t.Errorf("the calls took %v: want 200ms", d)
		}
		client.serve(nil)
		time.Sleep(time.Second)
		fails(t, store, "a", 1, "")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if !slices.Equal(told, []bool{true, false}) {
			t.Errorf("told %v: want that it is off, and then that it is back", told)
		}
	})
}

// A client that dials again and again tells only after the budget why it cannot connect. It is what the report and the
// calls tell that come after.
func TestWhyAServerCannotBeReached(t *testing.T) {
	tests := []struct {
		name      string
		after     time.Duration // when the client tells
		told      string
		reported  time.Duration // after the server was taken off the path
		lastOfAll string        // what calls are told some seconds later
	}{
		{"soon", 400 * time.Millisecond, "connection refused", 0, "connection refused"},
		{"a second later", 900 * time.Millisecond, "connection refused", 200 * time.Millisecond, "connection refused"},
		{"never", time.Hour, "no answer within 100ms", 400 * time.Millisecond, "no answer within 100ms"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				dial := func(ctx context.Context, _ string) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(test.after):
						return errors.New("connection refused")
					}
				}
				var reported time.Time
				var told string
				store := redislimit.NewOn(&fake{do: dial}, nil, redislimit.OnOutage(func(o redislimit.Outage) {
					reported, told = time.Now(), o.Err.Error()
				}))
				fails(t, store, "a", 5, redislimit.KindTimeout)
				off := time.Now()
				fails(t, store, "a", 1, redislimit.KindOutage)
				time.Sleep(test.reported)
				synctest.Wait()
				if d := reported.Sub(off); told != test.told || d != test.reported {
					t.Errorf("told %q after %v: want %q after %v", told, d, test.told, test.reported)
				}
				for range 5 {
					time.Sleep(time.Second)
					_, _ = takeOne(t.Context(), store, "a")
				}
				_, err := takeOne(t.Context(), store, "a")
				if want := `redislimit: take "rl:{a}:tb:1m": redis is off the path of calls: ` + test.lastOfAll; err == nil || err.Error() != want {
					t.Errorf("error %v: want %s", err, want)
				}
			})
		})
	}
}

// Reports are made one at a time, however many servers go at once.
func TestReportsAreMadeOneAtATime(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const servers = 20
		var told, running atomic.Int64
		route := func(_ context.Context, key string) (string, error) { return key, nil }
		store := redislimit.NewOn(&fake{do: hang}, route, redislimit.OnOutage(func(redislimit.Outage) {
			if running.Add(1) > 1 {
				t.Error("two reports at the same time")
			}
			time.Sleep(time.Millisecond)
			running.Add(-1)
			told.Add(1)
		}))
		for range 5 {
			var wg sync.WaitGroup
			for i := range servers {
				wg.Go(func() { _, _ = takeOne(t.Context(), store, fmt.Sprint(i)) })
			}
			wg.Wait()
		}
		time.Sleep(2 * time.Second)
		if n := told.Load(); n != servers {
			t.Errorf("%d outages were reported: want %d", n, servers)
		}
	})
}
