package lua

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// call are the arguments of the script, and the limit of each key.
type call struct {
	keys   []string
	limits []int
	args   []any
}

var codes = []string{"tb", "lb", "fw", "sw", "sl", "cc"}

// limits are of count, period and capacity. Of some not all numbers are exact in a product below 2^53.
var limits = [][3]int64{
	{1, 1000, 1},
	{5, 1_000_000, 5},
	{7, 1_000_001, 3},
	{3, 1000, 7},
	{1000, 60_000_000, 1000},
	{999_983, 60_000_000, 1_000_000},
	{1000, 31_622_399_999_999, 1000},
	{1, 315_360_000_000_000, 10},
	{999_999_999, 86_399_999_999, 999_999_999},
}

// allKeys returns the keys of buckets, two for each algorithm and limit.
func allKeys() (keys []string) {
	for _, code := range codes {
		for limit := range limits {
			keys = append(keys, keyOf(code, limit, 0), keyOf(code, limit, 1))
		}
	}
	return keys
}

func keyOf(code string, limit, i int) string {
	return fmt.Sprintf("%s of %d: %d", code, limits[limit], i)
}

// history draws calls, with what happens between them.
type history struct {
	*rand.Rand
	now  int64
	odds int // of a call: how much rarer than in others is what is unusual
}

const exact = 1 << 53

func newHistory(seed uint64) *history {
	h := &history{Rand: rand.New(rand.NewPCG(seed, 0))}
	h.now = []int64{1_782_907_200_123_456, 1_782_907_200_123_456, 2_000_000, exact - 100_000_000}[h.IntN(4)]
	return h
}

// in reports whether something unusual happens, that does once in n times or less often.
func (h *history) in(n int) bool { return h.IntN(n*h.odds) == 0 }

// next lets some time pass, has something happen to a bucket, perhaps, and returns a call.
func (h *history) next(t *testing.T, twins [2]*twin) call {
	h.odds = []int{1, 20, 20}[h.IntN(3)]
	step := h.Int64N([]int64{1, 10, 10_000, 1_000_000, 100_000_000}[h.IntN(5)] + 1)
	if h.in(15) {
		step = -step
	}
	h.now = min(max(h.now+step, 1_000_000), exact-1)
	c := h.call()
	i := h.IntN(len(c.keys))
	key := c.keys[i]
	var harm []any
	switch h.IntN(20) {
	case 0, 1, 2, 3:
		harm = []any{"set", key, h.state(key, c.limits[i])}
	case 4:
		harm = []any{"hdel", "ends", key} // it has no time to live any more
	case 5, 6:
		harm = []any{"hincrby", "ends", key, -h.Int64N(4)} // it lives hardly long enough
	case 7:
		if h.in(2) {
			harm = []any{"rpush", key, "of another program"}
		}
	}
	if harm != nil {
		for _, twin := range twins {
			_ = twin.client.Do(t.Context(), harm...).Err() // of a command for another type
		}
	}
	return c
}

// call returns a call, mostly of buckets that the plain way may decide.
func (h *history) call() call {
	told := ""
	if h.in(15) {
		told = fmt.Sprint(h.now - h.Int64N(100))
	}
	c := call{args: []any{told}}
	for range 1 + h.IntN(2)*h.IntN(3) {
		charges, asks := 1+h.IntN(2)*h.IntN(3), 1+h.IntN(2)*h.IntN(5)
		if h.in(30) {
			charges = 9 + h.IntN(3)
		}
		kind, limit, texts := make([]string, charges), make([]int, charges), make([]any, charges)
		mergeable := true
		for i := range charges {
			kind[i], limit[i] = codes[h.IntN(2)], h.IntN(len(limits))
			if h.in(15) {
				kind[i] = codes[h.IntN(len(codes))]
			}
			var own bool
			texts[i], own = h.charge(kind[i], limit[i])
			mergeable = mergeable && !own
		}
		shape := fmt.Sprintf("%d %d", charges, asks)
		if mergeable && h.IntN(4) == 0 {
			for range asks {
				calls := 1 + h.IntN(3)
				if h.in(6) {
					calls = 0
				}
				shape += fmt.Sprint(" ", calls)
			}
		}
		c.args = append(append(c.args, shape), texts...)
		for range asks {
			for i := range charges {
				c.keys = append(c.keys, h.key(kind[i], limit[i]))
			}
			c.limits = append(c.limits, limit...)
		}
	}
	fails := ""
	if h.in(20) {
		fails = []string{"GET", "SET", "PTTL"}[h.IntN(3)]
		if h.IntN(2) == 0 {
			fails += " " + c.keys[h.IntN(len(c.keys))]
		}
	}
	c.args = append(c.args, fmt.Sprintf("%d %s", h.now, fails))
	return c
}

// key returns the key of a bucket, which at times is one that had another limit or is of another algorithm.
func (h *history) key(code string, limit int) string {
	if h.in(20) {
		limit = h.IntN(len(limits))
	}
	if h.in(50) {
		code = codes[h.IntN(len(codes))]
	}
	return keyOf(code, limit, h.IntN(2))
}

// charge returns a charge, and whether it is a caller's own.
func (h *history) charge(code string, limit int) (text string, own bool) {
	count, period, capacity := limits[limit][0], limits[limit][1], limits[limit][2]
	cost := 1 + h.Int64N([]int64{1, 1, 2, capacity}[h.IntN(4)])
	switch {
	case h.in(12):
		cost = 0
	case h.in(20):
		cost = capacity + 1
	}
	refill, extra := 0, ""
	switch code {
	case "tb", "lb":
		extra = "0"
		if own = h.in(12); own {
			extra = fmt.Sprint(h.Int64N(2 * period))
		}
		if code == "tb" && h.in(12) {
			refill = 1
		}
	case "cc":
		cost, extra, own = min(cost, 5), []string{"", "ann", "bob"}[h.IntN(3)], true
		fallthrough
	default:
		capacity = count
	}
	return fmt.Sprintf("%s %d %d %d %d %d %s", code, count, period, capacity, refill, cost, extra), own
}

// state returns what may be stored under a key: near what a bucket may hold, or what no algorithm writes.
func (h *history) state(key string, limit int) string {
	count, period, capacity := limits[limit][0], limits[limit][1], limits[limit][2]
	near := func(n int64) int64 { return max(n+h.Int64N(5)-2, 0) }
	switch way := h.IntN(4); {
	case h.in(6):
		return []string{
			"", "garbage", "1 2 3 4", "-1 1 1", "1.5 1 1", "1 1 1 ", "1 ", "8589934592 1 1", "1 9007199254740992 1", "9007199254740992",
			"1 1 9007199254740992", "99999999999999999999999999", "1 99999999999999999999999999 1", "007 1 0", "9007199254740991 3",
		}[h.IntN(15)]
	case strings.HasPrefix(key, "lb"):
		switch way {
		case 0: // near its capacity
			return fmt.Sprintf("%d %d", near(h.now+capacity*(period/count)), near(count))
		case 1: // where numbers are hardly exact
			return fmt.Sprintf("%d %d", near(h.now+(exact-h.Int64N(4*period))/count), near(count))
		case 2:
			return fmt.Sprintf("%d %d", near(h.now), near(count))
		}
		return fmt.Sprintf("%d", near(h.now+h.Int64N([]int64{period, exact - h.now}[h.IntN(2)])))
	default: // of a tb
		switch way {
		case 0: // near its capacity
			return fmt.Sprintf("%d %d %d", near(capacity), near(h.now), h.Int64N(period))
		case 1: // where numbers are hardly exact
			return fmt.Sprintf("%d %d %d", near(exact/period-2), near(h.now-h.Int64N(1000)), h.Int64N(period))
		case 2: // for long
			return fmt.Sprintf("%d %d %d", h.Int64N(capacity+1), near(h.now-min(h.now, exact/count)), near(period))
		}
		return fmt.Sprintf("%d %d %d", h.Int64N(capacity+1), near(h.now), near(period))
	}
}
