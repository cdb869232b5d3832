package redislimit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// outagesOf is an Observer of outages.
type outagesOf struct{ told []string }

func (o *outagesOf) Observe(_ context.Context, e *ratelimit.Event) {
	if e.Kind == ratelimit.EventOutage {
		o.told = append(o.told, fmt.Sprint(e.Server, " ", e.Away, " ", e.Err))
	}
}

// All Limiters of a Store tell of its outages, one that is made during an outage of that. The Store itself logs nothing then.
func TestObserversAreToldOfOutages(t *testing.T) {
	const loading = "LOADING Redis is loading the dataset in memory"
	inFakeTime(t, func(t *testing.T) {
		var log bytes.Buffer
		before := slog.Default()
		defer slog.SetDefault(before)
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))

		client := &fake{do: failing(loading)}
		store := redislimit.NewOn(client, nil)
		var early, late outagesOf
		first, err := ratelimit.New(store, ratelimit.Observe(&early))
		if err != nil {
			t.Fatal(err)
		}
		fails(t, store, "a", 5, redislimit.KindLoading)
		synctest.Wait()
		second, err := ratelimit.New(store, ratelimit.Observe(&late))
		if err != nil {
			t.Fatal(err)
		}
		client.serve(nil)
		time.Sleep(2 * time.Second)
		fails(t, store, "a", 1, "")
		synctest.Wait()
		want := []string{"redis true " + loading, "redis false <nil>"}
		if !slices.Equal(early.told, want) || !slices.Equal(late.told, want) {
			t.Errorf("told %q and %q: want %q", early.told, late.told, want)
		}
		if log.Len() > 0 {
			t.Errorf("logged %s", &log)
		}
		runtime.KeepAlive(first)
		runtime.KeepAlive(second)
	})
}

// A server that was replaced gets no calls any more that could find it back: it would be away until the program ends.
func TestServerThatLeavesDuringAnOutage(t *testing.T) {
	const loading = "LOADING Redis is loading the dataset in memory"
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: failing(loading)}
		store := redislimit.NewOn(client, func(_ context.Context, key string) (string, error) { return key, nil })
		const server = "rl:{a}:tb:1m"
		members, unknown := []string{server}, error(nil)
		store.OnMembers(func(context.Context) ([]string, error) { return members, unknown })
		var observer outagesOf
		limiter, err := ratelimit.New(store, ratelimit.Observe(&observer))
		if err != nil {
			t.Fatal(err)
		}
		told := func(want ...string) {
			t.Helper()
			synctest.Wait()
			for i := range want {
				want[i] = server + " " + want[i]
			}
			if !slices.Equal(observer.told, want) {
				t.Errorf("told %q, want %q", observer.told, want)
			}
			observer.told = nil
		}
		const away, left, back = "true " + loading, "false it has no keys any more: others of the Cluster or Ring have them", "false <nil>"
		fails(t, store, "a", 5, redislimit.KindLoading)
		time.Sleep(time.Minute)
		told(away) // it may be away for long
		members, unknown = nil, errors.New("no answer")
		time.Sleep(time.Minute)
		told()
		unknown = nil
		time.Sleep(10 * time.Second)
		told(left)
		time.Sleep(time.Hour)
		told() // once

		// It has keys again, and is still away.
		members = []string{server}
		fails(t, store, "a", 1, redislimit.KindLoading)
		told(away)
		client.serve(nil)
		time.Sleep(2 * time.Second)
		fails(t, store, "a", 1, "")
		told(back)
		time.Sleep(time.Hour)
		told()

		// It leaves again, and is well when it comes back.
		client.serve(failing(loading))
		members = nil
		fails(t, store, "a", 5, redislimit.KindLoading)
		time.Sleep(10 * time.Second)
		told(away, left)
		client.serve(nil)
		fails(t, store, "a", 1, "")
		told()
		runtime.KeepAlive(limiter)
	})
}

func TestWhoStopsWatchingIsToldNoMore(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: failing("LOADING Redis is loading the dataset in memory")}
		var own int
		store := redislimit.NewOn(client, nil, redislimit.OnOutage(func(redislimit.Outage) { own++ }))
		var told [2]int
		var stop [2]func()
		for i := range told {
			stop[i] = store.WatchOutages(func(string, bool, error) { told[i]++ })
		}
		fails(t, store, "a", 5, redislimit.KindLoading)
		synctest.Wait()
		stop[0]()
		stop[0]()
		client.serve(nil)
		time.Sleep(2 * time.Second)
		fails(t, store, "a", 1, "")
		synctest.Wait()
		if told != [2]int{1, 2} || own != 2 {
			t.Errorf("told %v times, and OnOutage %d: want 1, 2, and 2", told, own)
		}
	})
}

// A Store that outlives its Limiters keeps none of them.
func TestStoreForgetsLimiters(t *testing.T) {
	store := redislimit.NewOn(&fake{}, nil)
	for range 100 {
		if _, err := ratelimit.New(store); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		runtime.GC()
		if redislimit.Watchers(store) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d Limiters that nobody uses watch the Store", redislimit.Watchers(store))
}
