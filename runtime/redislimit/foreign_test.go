package redislimit_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// isForeign reports whether an error says that another program's value is under the key.
func isForeign(err error, text, key string) bool {
	e, ok := errors.AsType[*redislimit.Error](err)
	return ok && e.Kind == redislimit.KindForeign && slices.Equal(e.Keys, []string{key}) && strings.Contains(err.Error(), text)
}

// S20, R34: what is stored under the key and is not a state is an error that names the key, and stays.
func TestForeignValue(t *testing.T) {
	limits := map[string][]ratelimit.Charge{
		"rl:{a}:tb:1m": tb("a", 1), "rl:{a}:fw:1m": fw("a", 1), "rl:{a}:lb:1m": lb("a", 1), "rl:{a}:sw:1m": sw("a", 1),
	}
	texts := []string{
		"", "garbage", "1 2 3 4", "-1 1 1", "1 -1", "1.5 1 1", "1e3 1 1", "1 1 1 ", " 1 1 1", "0x1 1 1",
		"8589934592 1 1", "1 9007199254740992 1", "1 9007199254740992", "1 1 9007199254740992",
		"1 99999999999999999999999999 1", "1 99999999999999999999999999",
	}
	own := map[string][]string{ // what another algorithm can read
		"rl:{a}:tb:1m": {"1", "1 1"},
		"rl:{a}:fw:1m": {"1", "1 1 1", "8589934592 1"},
		"rl:{a}:lb:1m": {"1 1 1", "1 ", "-1", "1.5", "9007199254740992", "9007199254740992 1"},
		"rl:{a}:sw:1m": {"1", "1 1", "1 1 1000000001"},
	}
	servers(t, func(t *testing.T, server *redis.Client) {
		store := redislimit.NewPatient(server)
		for key, charges := range limits {
			for _, text := range slices.Concat(texts, own[key]) {
				if err := server.Set(t.Context(), key, text, 0).Err(); err != nil {
					t.Fatal(err)
				}
				for do, err := range each(t, store, charges) {
					if !isForeign(err, "unreadable state", key) {
						t.Errorf("%s of %q: error %v: want unreadable state and the key", do, text, err)
					}
				}
				if got := server.Get(t.Context(), key).Val(); got != text {
					t.Errorf("%q has become %q", text, got)
				}
			}

			server.Del(t.Context(), key)
			server.RPush(t.Context(), key, "of another program")
			for do, err := range each(t, store, charges) {
				if !isForeign(err, "WRONGTYPE", key) {
					t.Errorf("%s of a list: error %v: want WRONGTYPE and the key", do, err)
				}
			}
			if n := server.LLen(t.Context(), key).Val(); n != 1 {
				t.Errorf("the list has %d elements: want 1", n)
			}
		}
	})
}

// R45: when one bucket of a call cannot be read, the others are not charged.
func TestForeignValueBesideAnotherBucket(t *testing.T) {
	servers(t, func(t *testing.T, server *redis.Client) {
		store := redislimit.NewPatient(server)
		charges, results := append(tb("a", 1), fw("a", 1)...), make([]ratelimit.Result, 2)
		if err := server.Set(t.Context(), "rl:{a}:fw:1m", "garbage", 0).Err(); err != nil {
			t.Fatal(err)
		}
		take(t, store, charges[:1])
		if err := store.Take(t.Context(), charges, results); err == nil {
			t.Error("take returns no error")
		}
		if err := store.Refund(t.Context(), charges); err == nil {
			t.Error("refund returns no error")
		}
		if r := take(t, store, tb("a", 1)); r.Remaining != 3 {
			t.Errorf("%d remain: want 3", r.Remaining)
		}
	})
}

// S20: a list that is no log is an error that names the key, and stays.
func TestForeignList(t *testing.T) {
	at := func(us int64) string { return strconv.FormatInt(epoch.UnixMicro()+us, 10) }
	// Four of five units are asked for: a take looks for the entry that must expire, a refund for the one that stays.
	lists := map[string][]string{
		"another program's":       {"of another program"},
		"a total alone":           {"0"},
		"no last total":           {"0", at(0)},
		"no last total of two":    {"0", at(0), "5", at(0)},
		"no last total, if small": {"0", "1", "2", "3"},
		"text for a time":         {"0", "now", "5"},
		"text for a total":        {"0", at(0), "five"},
		"text for the first":      {"zero", at(0), "5"},
		"a fraction":              {"0", at(0), "5.5"},
		"a sign":                  {"0", at(0), "+5"},
		"an exponent":             {"0", "1e15", "5"},
		"a negative":              {"-1", at(0), "5"},
		"a time beyond 2^53":      {"0", "9007199254740992", "5"},
		"a total beyond 2^53":     {"0", at(0), "9007199254740992"},
		"no units":                {"5", at(0), "5"},
		"fewer units than none":   {"5", at(0), "4"},
		"times that go backwards": {"0", at(0), "1", at(-1), "5"},
		"text within, as a total": {"0", at(-1), "one", at(0), "5"},
		"text within, as a time":  {"0", at(-60e6), "1", "now", "2", at(0), "5"}, // looked at to drop what has expired
	}
	servers(t, func(t *testing.T, client *redis.Client) {
		store, _ := clocked(t, client)
		ctx, key, charges := t.Context(), "rl:{a}:sl:1m", sl("a", 4)
		for name, list := range lists {
			client.Del(ctx, key)
			client.RPush(ctx, key, list)
			for do, err := range each(t, store, charges) {
				if !isForeign(err, "unreadable state", key) {
					t.Errorf("%s: %s: error %v: want unreadable state and the key", name, do, err)
				}
			}
			if got := client.LRange(ctx, key, 0, -1).Val(); !slices.Equal(got, list) {
				t.Errorf("%s: %q has become %q", name, list, got)
			}
		}
		client.Set(ctx, key, "garbage", 0)
		for do, err := range each(t, store, charges) {
			if !isForeign(err, "WRONGTYPE", key) {
				t.Errorf("%s of a text: error %v: want WRONGTYPE and the key", do, err)
			}
		}
	})
}

// S20: a sorted set that holds no leases is an error that names the key, and stays.
func TestForeignSortedSet(t *testing.T) {
	const key = "rl:{a}:cc:30s"
	at := float64(epoch.UnixMicro() + 1_000_000)
	sets := map[string][]redis.Z{
		"a fraction":                   {{Score: at + 0.5, Member: "x"}},
		"beyond 2^53":                  {{Score: 1 << 53, Member: "x"}},
		"far beyond":                   {{Score: 1e300, Member: "x"}},
		"negative":                     {{Score: -1, Member: "x"}},
		"endless":                      {{Score: math.Inf(1), Member: "x"}},
		"a fraction of the holder":     {{Score: at - 0.5, Member: "ann"}, {Score: at, Member: "x"}},
		"a fraction that is to expire": {{Score: at - 0.5, Member: "x"}, {Score: at, Member: "2 x"}},
	}
	servers(t, func(t *testing.T, client *redis.Client) {
		store, _ := clocked(t, client)
		charges := leased("a", 5, "ann")
		for name, set := range sets {
			client.Del(t.Context(), key)
			client.ZAdd(t.Context(), key, set...)
			errs := each(t, store, charges)
			errs["renew"] = store.Renew(t.Context(), charges, make([]bool, 1))
			if name == "a fraction that is to expire" { // only a call that is refused looks when
				charges := leased("a", 4, "ann")
				errs = each(t, store, charges)
				delete(errs, "refund")
			}
			for do, err := range errs {
				if !isForeign(err, "unreadable state", key) {
					t.Errorf("%s: %s: error %v: want unreadable state and the key", name, do, err)
				}
			}
			if n := client.ZCard(t.Context(), key).Val(); n != int64(len(set)) {
				t.Errorf("%s: %d members have become %d", name, len(set), n)
			}
		}
		client.Set(t.Context(), key, "garbage", 0)
		errs := each(t, store, charges)
		errs["renew"] = store.Renew(t.Context(), charges, make([]bool, 1))
		for do, err := range errs {
			if !isForeign(err, "WRONGTYPE", key) {
				t.Errorf("%s of a text: error %v: want WRONGTYPE and the key", do, err)
			}
		}
	})
}
