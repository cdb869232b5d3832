package redislimit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
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
		var store *redislimit.Store
		var told []string
		client := &fake{do: hang}
		store = redislimit.NewOn(client, nil, redislimit.OnOutage(func(o redislimit.Outage) {
			_, err := takeOne(t.Context(), store, "of the report")
			told = append(told, fmt.Sprintf("%s %v %v; %q", o.Server, o.Down, o.Err, kindOf(err)))
		}))
		for range 2 {
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() { _, _ = takeOne(t.Context(), store, "a") })
			}
			wg.Wait()
			for range 3 { // tries, in vain
				time.Sleep(2 * time.Second)
				fails(t, store, "a", 1, redislimit.KindTimeout)
			}
			client.serve(nil)
			time.Sleep(2 * time.Second)
			fails(t, store, "a", 100, "")
			client.serve(hang)
		}
		down, up := `redis true no answer within 100ms; "outage"`, `redis false <nil>; ""`
		if want := []string{down, up, down, up}; !slices.Equal(told, want) {
			t.Errorf("told %q: want %q", told, want)
		}
	})
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
		time.Sleep(servers * time.Millisecond)
		if n := told.Load(); n != servers {
			t.Errorf("%d outages were reported: want %d", n, servers)
		}
	})
}
