package dashboard

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// latencies counts how long decisions took, in classes of which each is a quarter of a power of two wide: what is told of
// them is at most a quarter above what it was. The zero value is ready, and safe for concurrent use but for drain.
type latencies struct {
	counts [stripes][classes]atomic.Uint64
	before [classes]uint64 // at the last drain
}

const (
	quarters = 4
	// classes reach up to 2^35 ns, which is half a minute. What took longer is in the last one.
	classes = quarters * (35 - 1)
)

// class returns that of a time: twice the position of its highest bit, in quarters by the two bits below that.
func class(d time.Duration) int {
	ns := uint64(max(d, quarters))
	top := bits.Len64(ns) - 1
	return min((top-2)*quarters+int(ns>>(top-2))&(quarters-1), classes-1) //nolint:gosec // two bits
}

// longest returns the end of a class.
func longest(class int) time.Duration {
	return time.Duration(quarters+class%quarters+1) << (class / quarters)
}

func (l *latencies) add(stripe uint32, d time.Duration) { l.counts[stripe][class(d)].Add(1) }

// drain returns the median and the 99th percentile of the times since the last call, 0 if there were none.
func (l *latencies) drain() (median, most time.Duration) {
	var counts [classes]uint64
	var n uint64
	for c := range counts {
		var sum uint64
		for s := range l.counts {
			sum += l.counts[s][c].Load()
		}
		counts[c], l.before[c] = sum-l.before[c], sum
		n += counts[c]
	}
	if n == 0 {
		return 0, 0
	}
	return percentile(&counts, n, 50), percentile(&counts, n, 99)
}

// percentile returns what that many of a hundred of n times do not exceed.
func percentile(counts *[classes]uint64, n, percent uint64) time.Duration {
	want := max((n*percent+99)/100, 1)
	for c := range counts {
		if counts[c] >= want {
			return longest(c)
		}
		want -= counts[c]
	}
	return longest(classes - 1)
}
