package redislimit_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

func TestWhatALogHolds(t *testing.T) {
	keep(t, []keeps{
		{"an entry a time", sl, []step{
			{0, "take", 2, "", "0 @0 2", time.Minute},
			{0, "take", 1, "", "0 @0 3", time.Minute},
			{us, "take", 1, "", "0 @0 3 @1 4", time.Minute},
			{us, "refuse", 2, "", "0 @0 3 @1 4", 0},
			{us, "look", 0, "", "0 @0 3 @1 4", 0},
			{us, "refuse", 6, "", "0 @0 3 @1 4", 0},
		}},
		{"what has expired is dropped by what is written", sl, []step{
			{0, "take", 1, "", "0 @0 1", time.Minute},
			{us, "take", 1, "", "0 @0 1 @1 2", time.Minute},
			{us, "take", 3, "", "0 @0 1 @1 2 @2 5", time.Minute},
			{time.Minute - us, "refuse", 4, "", "0 @0 1 @1 2 @2 5", 0},
			{0, "take", 1, "", "2 @2 5 @60000001 6", time.Minute},
		}},
		{"all of it", sl, []step{
			{0, "take", 1, "", "0 @0 1", time.Minute},
			{us, "take", 1, "", "0 @0 1 @1 2", time.Minute},
			{time.Minute, "take", 5, "", "2 @60000001 7", time.Minute},
			{time.Minute, "refund", 1, "", "", 0},
		}},
		{"R37: what seems to have been taken later than now was taken now", sl, []step{
			{0, "take", 1, "", "0 @0 1", time.Minute},
			{3 * us, "take", 1, "", "0 @0 1 @3 2", time.Minute},
			{us, "take", 2, "", "0 @0 1 @3 2 @4 4", time.Minute},
			{-2 * us, "look", 0, "", "0 @0 1 @3 2 @4 4", 0},
			{0, "refuse", 2, "", "0 @0 1 @2 4", time.Minute},
			{-us, "take", 1, "", "0 @0 1 @1 5", time.Minute},
			{-3 * us, "refund", 1, "", "0 @-2 4", time.Minute},
		}},
	})
}

// R20, R27: neither a cost nor a count makes a log grow.
func TestSizeOfALog(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store, advance := clocked(t, client)
		c := sl("cost", 1_000_000)
		c[0].Limit.Count = 1_000_000
		take(t, store, c)
		if got, want := kept(t, client, keyOf(c[0])), "0 @0 1000000"; got != want {
			t.Errorf("one call of a million units is %q: want %q", got, want)
		}

		// Above a million units, an entry a millionth of the period, here a millisecond. The epoch is 456 us into one.
		c = sl("count", 1)
		c[0].Limit.Count, c[0].Limit.Period = 1_000_000_000, 1000*time.Second
		for _, pause := range []time.Duration{0, 200, 343, 1, 999, 1, 2000} {
			advance(pause * time.Microsecond)
			take(t, store, c)
		}
		if got, want := kept(t, client, keyOf(c[0])), "0 @543 3 @1543 5 @1544 6 @3544 7"; got != want {
			t.Errorf("the log is %q: want %q", got, want)
		}
	})
}

// P04: however long a log is, a call looks at a few entries.
func TestLongLogIsNotReadThrough(t *testing.T) {
	const entries = 20_000
	client := redistest.Client(t)
	store, advance := clocked(t, client)
	c := sl("long", 1)
	c[0].Limit.Count = 1_000_000
	key := keyOf(c[0])
	list := []any{"0"}
	for i := range int64(entries) {
		list = append(list, epoch.UnixMicro()+i*1000, (i+1)*10)
	}
	if err := client.RPush(t.Context(), key, list...).Err(); err != nil {
		t.Fatal(err)
	}
	advance(entries * time.Millisecond)

	const half = entries / 2 * 10
	tests := []struct {
		name  string
		pause time.Duration
		call  func() error
		left  int64 // entries
	}{
		{"refused until half has expired", 0, func() error {
			c[0].Limit.Count, c[0].Cost = half, 5
			r := take(t, store, c)
			if want := time.Minute - half*time.Millisecond/10; r.RetryAfter != want {
				return fmt.Errorf("retry after %v: want %v", r.RetryAfter, want)
			}
			return nil
		}, entries},
		{"refund of the oldest", 0, func() error {
			c[0].Cost, c[0].Taken = half+half/2+5, sinceEpoch(0)
			return store.Refund(t.Context(), c)
		}, entries / 4},
		{"refund of the newest", 0, func() error {
			c[0].Cost, c[0].Taken = 10, sinceEpoch((entries-1)*time.Millisecond)
			return store.Refund(t.Context(), c)
		}, entries/4 - 1},
		{"take when half of the rest has expired", time.Minute - entries/8*time.Millisecond, func() error {
			c[0].Cost = 1
			if r := take(t, store, c); !r.Allowed || r.Remaining != half-(entries/8-2)*10-1 {
				return fmt.Errorf("%+v", r)
			}
			return nil
		}, entries/8 - 1},
	}
	for _, test := range tests {
		advance(test.pause)
		if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if err := test.call(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if n := client.LLen(t.Context(), key).Val(); n != 2*test.left+1 {
			t.Errorf("%s: the list has %d elements: want %d", test.name, n, 2*test.left+1)
		}
		if n := calls(t, client, "lindex"); n > 40 || n == 0 {
			t.Errorf("%s: looks at %d elements: want at most 40", test.name, n)
		}
		if n := calls(t, client, "lrange"); n != 0 {
			t.Errorf("%s: reads %d ranges: want none", test.name, n)
		}
	}
}

// calls returns how often a server was asked to do a command.
func calls(t *testing.T, client *redis.Client, command string) int {
	t.Helper()
	info, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, stat, found := strings.Cut(info, "cmdstat_"+command+":calls=")
	if !found {
		return 0
	}
	stat, _, _ = strings.Cut(stat, ",")
	n, err := strconv.Atoi(stat)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
