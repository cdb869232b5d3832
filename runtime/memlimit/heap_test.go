package memlimit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func heapSize() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Long keys take what their bytes take, not some times that, and give it back when they have expired.
func TestLongKeysThatHaveExpiredLeaveNoBytes(t *testing.T) {
	for _, test := range []struct{ keys, bytes int }{
		{1, 10_000},
		{1, 1_000_000},
		{64, 1_000_000},
		{100, 100_000},
		{3000, 10_000}, // several pieces a shard
		{20_000, 1000},
	} {
		for _, opts := range [][]Option{nil, {MaxKeys(100_000)}} {
			t.Run(fmt.Sprintf("%d of %d, %d options", test.keys, test.bytes, len(opts)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const perShard = 24_000 // bytes, of what there is once for the keys of a length
					store, before := New(opts...), heapSize()
					pad := strings.Repeat("k", test.bytes)
					for i := range test.keys {
						take(t, store, one(fmt.Sprint(i, pad)[:test.bytes], perSecond, 1))
					}
					all, once := int64(test.keys*test.bytes), int64(min(test.keys, maxShards)*perShard)
					if live := heapSize() - before; live > all*15/10+once {
						t.Errorf("keys of %d bytes take %d", all, live)
					}
					time.Sleep(time.Second)
					for range 5000 + 10*test.keys {
						take(t, store, one("busy", perSecond, 0))
					}
					if left := heapSize() - before; store.Len() > test.keys/100 || left > all/10+once {
						t.Errorf("%d keys of %d bytes have expired: %d of them and %d bytes are left", test.keys, all, store.Len(), left)
					}
					runtime.KeepAlive(store)
				})
			})
		}
	}
}

// A key that comes and goes on its own finds the memory that it has left, unless that is more than it is worth.
func TestKeyThatComesAndGoesAllocatesNothing(t *testing.T) {
	store, ctx := New(), t.Context()
	charges, results := one(strings.Repeat("k", 900), perSecond, 1), make([]ratelimit.Result, 1)
	allocs := testing.AllocsPerRun(1000, func() {
		if err := store.Take(ctx, charges, results); err != nil {
			t.Fatal(err)
		}
		if err := store.Refund(ctx, charges); err != nil || store.Len() != 0 {
			t.Fatal(err, store.Len())
		}
	})
	if allocs != 0 {
		t.Errorf("a key that comes and goes allocates %v times", allocs)
	}
}
