package redislimit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// The calls that a Store remembers are bounded, and those that are refused for longest stay.
func TestRememberedRefusalsAreBounded(t *testing.T) {
	for _, test := range []struct{ calls, most, least int }{{-1, 0, 0}, {0, 0, 0}, {1, 1, 1}, {10, 10, 10}, {100, 100, 95}} {
		inFakeTime(t, func(t *testing.T) {
			server := &fake{replies: map[string][]any{}, runs: true}
			store := redislimit.NewOn(server, nil, redislimit.DenyCache(test.calls))
			warm(t, store)
			for i := range 1000 {
				key := fmt.Sprint(i)
				server.replies["rl:{"+key+"}:tb:1m"] = []any{refusal(time.Hour)}
				if r := take(t, store, tb(key, 1)); r.Allowed {
					t.Fatal("the call is allowed")
				}
			}
			if n := store.Denied(); n > test.most || n < test.least {
				t.Errorf("DenyCache(%d): %d calls are remembered: want %d to %d", test.calls, n, test.least, test.most)
			}
		})
	}
}

func TestLongestRefusalsStay(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		server := &fake{replies: map[string][]any{}, runs: true}
		store := redislimit.NewOn(server, nil, redislimit.DenyCache(8))
		warm(t, store)
		for i, retry := range []time.Duration{9 * time.Second, 8 * time.Second, 30 * time.Second} {
			for j := range 8 {
				key := fmt.Sprintf("%d:%d", i, j)
				server.replies["rl:{"+key+"}:tb:1m"] = []any{refusal(retry)}
				take(t, store, tb(key, 1))
			}
		}
		server.count()
		for j := range 8 {
			take(t, store, tb(fmt.Sprintf("2:%d", j), 1))
		}
		if n := server.count(); n != 0 {
			t.Errorf("%d of the calls that are refused for longest were asked again", n)
		}
	})
}

// refusal is a reply to a take of one charge.
func refusal(retry time.Duration) []any {
	return []any{retry.Microseconds(), int64(0), retry.Microseconds(), int64(1)}
}

func TestRefusalFromMemoryAllocatesNothing(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		several := append(tb("several", 1), fw("several", 1)...)
		server := &fake{runs: true, replies: map[string][]any{
			"rl:{a}:tb:1m":       {refusal(time.Hour)},
			"rl:{several}:tb:1m": {append(refusal(time.Hour)[:3], int64(0), int64(4), int64(0), int64(1))},
		}}
		store := redislimit.NewOn(server, nil)
		warm(t, store)
		server.count()
		for _, charges := range [][]ratelimit.Charge{tb("a", 1), several} {
			results := make([]ratelimit.Result, len(charges))
			allocs := testing.AllocsPerRun(100, func() {
				if err := store.Take(t.Context(), charges, results); err != nil || results[0].Allowed {
					t.Fatalf("error %v, results %+v", err, results)
				}
			})
			if allocs != 0 {
				t.Errorf("%d limits: %v allocations", len(charges), allocs)
			}
		}
		if n := server.count(); n != 2 {
			t.Errorf("%d commands were sent: want 2", n)
		}
	})
}

// The refusals of an attack by one caller, and by as many as there is room for.
func BenchmarkDenied(b *testing.B) {
	for _, callers := range []int{1, 50_000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			server := &fake{replies: map[string][]any{}, runs: true}
			store := redislimit.NewOn(server, nil, redislimit.Timeout(0))
			warm(b, store)
			attack := make([][]ratelimit.Charge, callers)
			for i := range attack {
				key := fmt.Sprintf("testGet:%d", i)
				server.replies["rl:{"+key+"}:tb:1m"] = []any{refusal(time.Hour)}
				attack[i] = tb(key, 1)
				if r := take(b, store, attack[i]); r.Allowed {
					b.Fatalf("result is %+v", r)
				}
			}
			server.count()
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				results, i := make([]ratelimit.Result, 1), rand.IntN(callers)
				for pb.Next() {
					if i++; i >= callers {
						i = 0
					}
					if err := store.Take(b.Context(), attack[i], results); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.ReportMetric(float64(server.count())/float64(b.N), "asked/op")
		})
	}
}
