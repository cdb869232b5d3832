package redislimit_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// byUser returns a guard of 5 calls per minute of each user.
func byUser(t *testing.T, store ratelimit.Store) *ratelimit.Guard {
	t.Helper()
	limiter, err := ratelimit.New(store, ratelimit.OnFailure(ratelimit.FailClosed))
	if err != nil {
		t.Fatal(err)
	}
	limit := ratelimit.Limit{Count: 5, Period: time.Minute}
	return limiter.Guard("users.Service.Login", ratelimit.Rule{Name: "1m", Key: "login:{user}", Limit: limit})
}

// hostile returns what callers may call themselves to meet another's bucket, to choose a slot, or to fill the server.
func hostile() []string {
	long := strings.Repeat("a", 1<<20)
	users := []string{
		"a", "{a}", "}{a}", "a}", "{", "}", "{}", "a:b", "a%3Ab", "a%b", ":", "%", "#", "\x00", "\r\n", "a\r\nFLUSHALL\r\n", " ",
		"*", "?", "[a]", "\\", "ä", "\xff\xfe", "\xc3", "a}:tb:1m", "}:tb:1m", "rl:{login:a}:tb:1m", "a\u202eb", "\u200b",
		long, long + "a", long + "b", strings.Repeat("}", 1<<20), strings.Repeat("\x00", 1<<20), strings.Repeat("%", 128), strings.Repeat("%", 129),
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		user := make([]byte, 8+random.IntN(200))
		for i := range user {
			user[i] = byte(random.UintN(256))
		}
		users = append(users, string(user))
	}
	return users
}

// Whatever callers call themselves, each has a bucket, under a key of bounded length whose braces are the Store's own.
func TestHostileIdentities(t *testing.T) {
	const longest = 450 // bytes: 128 of which each is escaped, and what is around them
	client := redistest.Client(t)
	guard := byUser(t, redislimit.NewPatient(client))
	users := hostile()
	for _, user := range users {
		for range 5 {
			if err := guard.Allow(t.Context(), ratelimit.String(user)); err != nil {
				t.Fatalf("user %.50q: %v", user, err)
			}
		}
	}
	for _, user := range users {
		if err := guard.Allow(t.Context(), ratelimit.String(user)); !errors.Is(err, ratelimit.ErrLimited) {
			t.Errorf("user %.50q: the sixth call: error %v: want %v", user, err, ratelimit.ErrLimited)
		}
	}
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != len(users) {
		t.Errorf("%d keys, error %v: want one for each of %d users", len(keys), err, len(users))
	}
	for _, key := range keys {
		inner, ok := strings.CutPrefix(key, "rl:{login:")
		inner, ok2 := strings.CutSuffix(inner, "}:tb:1m")
		if !ok || !ok2 || len(key) > longest || strings.ContainsAny(inner, "{}:\r\n\x00") {
			t.Errorf("%d bytes of a key: %.500q", len(key), key)
		}
	}
}

// A Store keeps buckets under any bytes, from callers of Limiter.Allow or of its methods who escape nothing, too.
func TestKeysOfAnyBytes(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store := redislimit.NewPatient(client)
		keys := []string{"", "{", "}", "}{", "\x00", "\r\n", "\xff\xfe", "a}:tb:1m", strings.Repeat("a", 1<<20)}
		for all := range 256 {
			keys = append(keys, string([]byte{'k', byte(all)}))
		}
		for _, key := range keys {
			if r := take(t, store, tb(key, 2)); !r.Allowed || r.Remaining != 3 {
				t.Errorf("key %.20q: %+v: want 3 to remain", key, r)
			}
		}
		if n := client.DBSize(t.Context()).Val(); n != int64(len(keys)) {
			t.Errorf("%d keys in Redis: want %d", n, len(keys))
		}
	})
}

// Callers spread over the slots of a Cluster, also those who would like to be all in one.
func TestKeysSpreadOverSlots(t *testing.T) {
	const users, most = 10_000, 8 // in a slot there are 0.6 on average
	if crc := crc16([]byte("123456789")); crc != 0x31C3 {
		t.Fatalf("crc16 is %#x: want the 0x31C3 of the standard", crc)
	}
	for _, form := range []string{"%d", "{pin}%d", "}{pin}%d", "%d}{pin}", "%d{pin", "pin}:tb:1m%d"} {
		seen := &intercept{answer: func(redis.Cmder) (bool, error) { return true, serverError("ERR the test has seen it") }}
		client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
		client.AddHook(seen)
		guard := byUser(t, redislimit.NewPatient(client))
		for i := range users {
			if err := guard.Allow(t.Context(), ratelimit.String(fmt.Sprintf(form, i))); err == nil {
				t.Fatal("no error")
			}
		}
		inSlot, inThird := map[uint16]int{}, map[uint16]int{}
		for _, args := range seen.args {
			_, tagged, _ := bytes.Cut([]byte(args[3].(string)), []byte("{"))
			tag, _, _ := bytes.Cut(tagged, []byte("}"))
			slot := crc16(tag) % 16384
			inSlot[slot]++
			inThird[slot/5462]++
		}
		for slot, n := range inSlot {
			if n > most {
				t.Errorf("%s: slot %d has %d of %d users: want %d at most", form, slot, n, users, most)
			}
		}
		for third, n := range inThird {
			if n < users*30/100 || n > users*37/100 {
				t.Errorf("%s: third %d of the slots has %d of %d users", form, third, n, users)
			}
		}
		_ = client.Close()
	}
}

// crc16 is what a Cluster hashes keys by, CRC-16/XMODEM.
func crc16(text []byte) (crc uint16) {
	for _, b := range text {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return crc
}

// No configuration is in the text of a script: a server keeps every text that it was ever sent.
func TestTenThousandConfigurations(t *testing.T) {
	if raced {
		t.Skip("takes long under the race detector, to which one call after the other is nothing")
	}
	t.Parallel()
	const configurations, most = 10_000, 12
	client := redistest.Client(t)
	results := make([]ratelimit.Result, 1)
	for i := range configurations {
		n := int64(i)
		limit := ratelimit.Limit{Algorithm: ratelimit.Algorithm(i % 6), Count: n + 1, Period: time.Duration(n+10) * time.Millisecond}
		c := ratelimit.Charge{Key: fmt.Append(nil, i), Name: fmt.Sprint(i), Limit: limit, Cost: 1 + n%3, Holder: fmt.Sprint(i)}
		if limit.Algorithm == ratelimit.TokenBucket || limit.Algorithm == ratelimit.LeakyBucket {
			c.Limit.Burst, c.Wait = n%7+1, time.Duration(n)*time.Millisecond
		}
		options := []redislimit.Option{redislimit.Prefix(fmt.Sprintf("%d:", i%10))}
		if i%2 == 0 {
			options = append(options, redislimit.ClientTime())
		}
		store, charges := redislimit.NewPatient(client, options...), []ratelimit.Charge{c}
		var err error
		switch i % 5 {
		case 0, 1:
			err = store.Take(t.Context(), charges, results)
		case 2:
			err = store.Peek(t.Context(), charges, results)
		case 3:
			if err = store.Refund(t.Context(), charges); errors.Is(err, ratelimit.ErrLeaseLost) {
				err = nil
			}
		case 4:
			if limit.Algorithm == ratelimit.Concurrency {
				err = store.Renew(t.Context(), charges, make([]bool, 1))
			}
		}
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
	}
	info, err := client.Info(t.Context(), "memory").Result()
	_, after, found := strings.Cut(info, "number_of_cached_scripts:")
	var cached int
	if n, _ := fmt.Sscan(after, &cached); !found || n != 1 || err != nil {
		t.Fatalf("how many scripts are cached the server does not tell: %q, error %v", info, err)
	}
	if cached == 0 || cached > most {
		t.Errorf("%d scripts are cached: want 1 to %d", cached, most)
	}
}
