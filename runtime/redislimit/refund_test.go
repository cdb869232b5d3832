package redislimit_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const us = time.Microsecond

func TestRefundOfAWindow(t *testing.T) {
	keep(t, []keeps{
		{"fixed: of this one", fw, []step{
			{0, "take", 3, "", "3 @0", time.Minute},
			{us, "take", 2, "", "5 @0", time.Minute - us},
			{us, "refund", 1, "@0", "4 @0", time.Minute - 2*us},
			{0, "refund", 1, "@1", "3 @0", time.Minute - 2*us},
			{0, "refund", 1, "", "2 @0", time.Minute - 2*us},
			{0, "refund", 3, "@0", "", 0},
		}},
		{"fixed: of one that is over", fw, []step{
			{0, "take", 5, "", "5 @0", time.Minute},
			{time.Minute, "refund", 1, "@0", "", 0},
			{0, "take", 5, "", "5 @60000000", time.Minute},
			{us, "refund", 1, "@0", "5 @60000000", time.Minute - us},
			{0, "refund", 1, "@59999999", "5 @60000000", time.Minute - us},
			{0, "refund", 1, "@60000000", "4 @60000000", time.Minute - us},
		}},
		{"fixed: R37: what seems to have been taken later than now was taken now", fw, []step{
			{0, "take", 5, "", "5 @0", time.Minute},
			{-us, "refund", 1, "@0", "4 @-1", time.Minute},
			{us, "refund", 1, "@-2", "4 @-1", time.Minute - us},
		}},

		// A sliding window ends at @59876544, and the next ones a minute later each.
		{"sliding: of this one", sw, []step{
			{0, "take", 3, "", "3 @0 0", 2*time.Minute - 123456*us},
			{us, "refund", 1, "@0", "2 @1 0", 2*time.Minute - 123457*us},
			{0, "refund", 1, "", "1 @1 0", 2*time.Minute - 123457*us},
			{0, "refund", 2, "@1", "", 0},
		}},
		{"sliding: of the one before", sw, []step{
			{0, "take", 4, "", "4 @0 0", 2*time.Minute - 123456*us},
			{time.Minute, "take", 1, "", "1 @60000000 4", 2*time.Minute - 123456*us},
			{0, "refund", 1, "@59876543", "1 @60000000 3", 2*time.Minute - 123456*us},
			{0, "refund", 1, "@0", "1 @60000000 2", 2*time.Minute - 123456*us},
			{0, "refund", 2, "@59876544", "0 @60000000 2", time.Minute - 123456*us},
			{0, "refund", 1, "", "0 @60000000 2", time.Minute - 123456*us},
			{0, "refund", 3, "@0", "", 0},
		}},
		{"sliding: of the one before, which hardly counts any more", sw, []step{
			{0, "take", 4, "", "4 @0 0", 2*time.Minute - 123456*us},
			{119 * time.Second, "take", 4, "", "4 @119000000 4", time.Minute + 876544*us},
			{0, "refund", 3, "@0", "4 @119000000 1", time.Minute + 876544*us},
			{0, "refund", 3, "@0", "4 @119000000 0", time.Minute + 876544*us},
		}},
		{"sliding: of one before that", sw, []step{
			{0, "take", 4, "", "4 @0 0", 2*time.Minute - 123456*us},
			{time.Minute, "take", 1, "", "1 @60000000 4", 2*time.Minute - 123456*us},
			{time.Minute, "take", 1, "", "1 @120000000 1", 2*time.Minute - 123456*us},
			{0, "refund", 1, "@59876543", "1 @120000000 1", 2*time.Minute - 123456*us},
		}},
		{"sliding: R37: what seems to have been taken later than now was taken now", sw, []step{
			{time.Minute, "take", 4, "", "4 @60000000 0", 2*time.Minute - 123456*us},
			{-time.Second, "refund", 1, "@60000000", "3 @59000000 0", time.Minute + 876544*us},
		}},
	})
}

func TestRefundOfALog(t *testing.T) {
	three := []step{
		{0, "take", 2, "", "0 @0 2", time.Minute},
		{us, "take", 1, "", "0 @0 2 @1 3", time.Minute},
		{us, "take", 2, "", "0 @0 2 @1 3 @2 5", time.Minute},
	}
	then := func(steps ...step) []step { return append(three[:3:3], steps...) }
	keep(t, []keeps{
		{"of the newest units, which leave no trace", sl, then(
			step{us, "refund", 1, "@2", "0 @0 2 @1 3 @2 4", time.Minute - us},
			step{0, "refund", 1, "@2", "0 @0 2 @1 3", time.Minute - 2*us},
			step{0, "refund", 1, "@1", "0 @0 2", time.Minute - 3*us},
			step{0, "refund", 2, "@0", "", 0},
		)},
		{"of what was taken just now", sl, then(
			step{0, "refund", 2, "", "0 @0 2 @1 3", time.Minute - us},
			step{0, "refund", 1, "", "1 @0 2 @1 3", time.Minute - us},
		)},
		{"of older ones, in place of which the oldest come back", sl, then(
			step{us, "refund", 1, "@1", "1 @0 2 @1 3 @2 5", time.Minute - us},
			step{0, "refund", 2, "@0", "3 @2 5", time.Minute - us},
			step{0, "refund", 1, "@1", "4 @2 5", time.Minute - us},
			step{0, "take", 1, "", "4 @2 5 @3 6", time.Minute},
			step{0, "refund", 1, "@1", "5 @3 6", time.Minute},
			step{0, "refund", 5, "@1", "", 0},
		)},
		{"of just as many as the oldest entry has", sl, then(
			step{us, "refund", 2, "@1", "2 @1 3 @2 5", time.Minute - us},
		)},
		{"of more than the newest has", sl, then(
			step{us, "refund", 3, "@2", "1 @0 2 @1 3", time.Minute - 2*us},
			step{0, "refund", 4, "@1", "", 0},
		)},
		{"of more than the newest has, and the oldest", sl, then(
			step{us, "refund", 4, "@2", "2 @1 3", time.Minute - 2*us},
		)},
		{"of what no longer counts", sl, then(
			step{time.Minute - 2*us, "refund", 2, "@0", "2 @1 3 @2 5", 2 * us},
			step{us, "refund", 1, "@0", "3 @2 5", us},
			step{0, "refund", 1, "@2", "3 @2 4", us},
			step{us, "refund", 1, "@2", "", 0},
		)},
		{"drops what has expired", sl, then(
			step{time.Minute - us, "refund", 1, "@2", "3 @2 4", us},
		)},
		{"R37: what seems to have been taken later than now was taken now", sl, then(
			step{-us, "refund", 1, "@2", "0 @0 2 @1 3 @1 4", time.Minute},
			step{us, "refund", 1, "@2", "1 @0 2 @1 3 @1 4", time.Minute - us},
			step{-2 * us, "refund", 1, "@1", "1 @0 2 @0 3", time.Minute},
		)},
		{"R37: of more than seems to have been taken later than now", sl, []step{
			{0, "take", 1, "", "0 @0 1", time.Minute},
			{us, "take", 1, "", "0 @0 1 @1 2", time.Minute},
			{2 * us, "take", 3, "", "0 @0 1 @1 2 @3 5", time.Minute},
			{-us, "refund", 4, "@3", "1 @1 2", time.Minute - us},
		}},
		// A tick is a millisecond, and ends at @544.
		{"of a call that shares its tick with later ones", large, []step{
			{0, "take", 2, "", "0 @0 2", 1000 * time.Second},
			{200 * us, "take", 3, "", "0 @200 5", 1000 * time.Second},
			{0, "refund", 2, "@0", "0 @200 3", 1000 * time.Second},
			{400 * us, "take", 1, "", "0 @200 3 @600 4", 1000 * time.Second},
			{0, "refund", 1, "@200", "1 @200 3 @600 4", 1000 * time.Second},
			{100 * us, "refund", 1, "", "1 @200 3", 1000*time.Second - 500*us},
			{1000*time.Second - 600*us, "refund", 1, "@0", "1 @200 2", 100 * us}, // it counts as long as they do
		}},
	})
}

// large is a sliding log of more than a million units.
func large(key string, cost int64) []ratelimit.Charge {
	charges := sl(key, cost)
	charges[0].Limit.Count, charges[0].Limit.Period = 1_000_000_000, 1000*time.Second
	return charges
}

// What comes back late must not let more go on than should.
func TestLateRefundLetsNoMoreGoOn(t *testing.T) {
	type step struct {
		pause    time.Duration
		do       string // take or refund
		calls    int
		taken    time.Duration // after the epoch, of a refund
		admitted int           // of the calls
	}
	const second = time.Second
	tests := []struct {
		name  string
		limit ratelimit.Algorithm // of 10 in a minute
		steps []step
	}{
		{"a fixed window that is the next one", ratelimit.FixedWindow, []step{
			{0, "take", 10, 0, 10},
			{60 * second, "take", 11, 0, 10},
			{0, "refund", 10, 0, 0},
			{0, "take", 1, 0, 0},
		}},
		{"14 in a sliding window", ratelimit.SlidingWindow, []step{
			{0, "take", 10, 0, 10},
			{90 * second, "take", 10, 0, 5},
			{0, "refund", 4, 0, 0},
			{0, "take", 10, 0, 2},
			{29 * second, "take", 10, 0, 2}, // of those before, one counts to the end
			{second / 2, "take", 1, 0, 0},
		}},
		{"15 in ten seconds of a log", ratelimit.SlidingLog, []step{
			{0, "take", 5, 0, 5},
			{50 * second, "take", 5, 0, 5},
			{0, "refund", 5, 0, 0},
			{0, "take", 6, 0, 5},
			{10 * second, "take", 1, 0, 0},
			{50 * second, "take", 11, 0, 10},
		}},
	}
	servers(t, func(t *testing.T, client *redis.Client) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				store, advance := clocked(t, client)
				c := ratelimit.Charge{Key: []byte("a"), Name: "1m", Cost: 1}
				c.Limit = ratelimit.Limit{Algorithm: test.limit, Count: 10, Period: time.Minute}
				for i, step := range test.steps {
					advance(step.pause)
					admitted := 0
					for range step.calls {
						if step.do == "take" {
							if take(t, store, []ratelimit.Charge{c}).Allowed {
								admitted++
							}
							continue
						}
						back := c
						back.Taken = sinceEpoch(step.taken)
						if err := store.Refund(t.Context(), []ratelimit.Charge{back}); err != nil {
							t.Fatal(err)
						}
					}
					if admitted != step.admitted {
						t.Errorf("step %d: %d of %d calls go on: want %d", i, admitted, step.calls, step.admitted)
					}
				}
			})
		}
	})
}
