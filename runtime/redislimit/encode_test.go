package redislimit

import (
	"strconv"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// BenchmarkBatch is what one process does for a batch of 64 decisions of two kinds, all admitted, besides sending it.
func BenchmarkBatch(b *testing.B) {
	const size = 64
	s := New(nil)
	limit := ratelimit.Limit{Count: 1000, Period: time.Minute}
	charges := make([]ratelimit.Charge, 1)
	reply := make([]any, 0, 3*size+1)
	for range size {
		reply = append(reply, int64(0), int64(999), int64(60_000))
	}
	reply = append(reply, int64(1))
	asks := make([]*ask, size)
	keys := make([][]byte, size)
	for i := range keys {
		keys[i] = strconv.AppendInt([]byte("client:"), int64(i), 10)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range asks {
			charges[0] = ratelimit.Charge{Key: keys[i], Name: "1m", Limit: limit, Cost: 1 + int64(i%2)}
			asks[i] = s.newAsk(charges)
		}
		if args := s.encodeBatch(asks); len(args) != 3+size+1+4 {
			b.Fatalf("%d arguments", len(args))
		}
		if err := s.readBatch(reply, asks); err != nil {
			b.Fatal(err)
		}
		if !asks[size-1].charged() {
			b.Fatal("nothing was charged")
		}
	}
}
