package main

import (
	"math/bits"
	"time"
)

// subBuckets is how many buckets there are from one power of two to the next: figures are off by 3 % at most.
const (
	subBits    = 5
	subBuckets = 1 << subBits
)

// histogram counts durations by their size.
type histogram struct {
	counts [40 * subBuckets]uint32
	total  uint64
}

func (h *histogram) add(d time.Duration) {
	h.counts[min(bucketOf(uint64(max(d, 0))), len(h.counts)-1)]++
	h.total++
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// quantile returns what a share of the durations does not exceed; of 1 it is the longest. There must be some.
func (h *histogram) quantile(share float64) time.Duration {
	rank := min(uint64(share*float64(h.total)), h.total-1)
	for i, n := range h.counts {
		if rank < uint64(n) {
			return startOf(i + 1)
		}
		rank -= uint64(n)
	}
	return startOf(len(h.counts))
}

// bucketOf returns the bucket of a number: those below subBuckets have one each.
func bucketOf(n uint64) int {
	shift := max(0, bits.Len64(n)-1-subBits)
	return shift*subBuckets + int(n>>shift)
}

// startOf returns the least duration of a bucket.
func startOf(bucket int) time.Duration {
	if bucket < 2*subBuckets {
		return time.Duration(bucket)
	}
	shift := bucket/subBuckets - 1
	return time.Duration(bucket%subBuckets+subBuckets) << shift
}
