package redislimit_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// twins are two Stores at the same time on one server, each with buckets of its own.
type twins struct {
	client             *redis.Client
	together, oneByOne *redislimit.Store
	advance            func(time.Duration)
}

func newTwins(t *testing.T, client *redis.Client, told bool) *twins {
	t.Helper()
	clock := &handClock{}
	store := func(prefix string) (*redislimit.Store, func(time.Duration)) {
		opts := []redislimit.Option{redislimit.Prefix(prefix)}
		if told {
			opts = append(opts, redislimit.ClientTimeOf(clock.now))
		}
		return clockedBy(t, clock, client, client, opts...)
	}
	w := &twins{client: client}
	w.together, w.advance = store("together:")
	w.oneByOne, _ = store("onebyone:")
	return w
}

// take has everything decided twice and compares the answers, and what is stored then.
func (w *twins) take(t *testing.T, asked ...redislimit.Asked) {
	t.Helper()
	answers, err := w.together.TakeTogether(t.Context(), asked...)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		for i, got := range a.Results {
			want := make([]ratelimit.Result, len(a.Charges))
			if err := w.oneByOne.Take(t.Context(), a.Charges, want); err != nil || a.Err != nil {
				t.Fatalf("errors %v and %v", err, a.Err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("call %d of %d of %+v:\n got %+v\nwant %+v", i+1, a.Calls, a.Charges, got, want)
			}
		}
	}
	if got, want := w.stored(t, "together:"), w.stored(t, "onebyone:"); !reflect.DeepEqual(got, want) {
		t.Fatalf("after %+v there is stored\n     %v\nwant %v", asked, got, want)
	}
}

// stored returns what there is under a prefix, and when it expires.
func (w *twins) stored(t *testing.T, prefix string) map[string]string {
	t.Helper()
	state := map[string]string{}
	for _, key := range w.client.Keys(t.Context(), prefix+"*").Val() {
		var value any
		switch w.client.Type(t.Context(), key).Val() {
		case "string":
			value = w.client.Get(t.Context(), key).Val()
		case "list":
			value = w.client.LRange(t.Context(), key, 0, -1).Val()
		default:
			value = w.client.ZRangeWithScores(t.Context(), key, 0, -1).Val()
		}
		state[strings.TrimPrefix(key, prefix)] = fmt.Sprint(value, expiryOf(t, w.client, key))
	}
	return state
}

var batchLimits = []ratelimit.Limit{
	{Count: 5, Period: time.Minute},
	{Count: 7, Period: time.Second, Burst: 20},
	{Count: 999_983, Period: time.Hour, Burst: 1_000_000_000},
	{Count: 3, Period: 24 * time.Hour, Burst: 4},
	{Count: 3, Period: time.Second, Burst: 10, Refill: ratelimit.Interval},
	{Algorithm: ratelimit.LeakyBucket, Count: 5, Period: time.Minute},
	{Algorithm: ratelimit.LeakyBucket, Count: 7, Period: time.Second, Burst: 20},
	{Algorithm: ratelimit.LeakyBucket, Count: 999_983, Period: time.Hour, Burst: 1_000_000_000},
	{Algorithm: ratelimit.FixedWindow, Count: 9, Period: time.Second},
	{Algorithm: ratelimit.SlidingWindow, Count: 9, Period: time.Second},
	{Algorithm: ratelimit.SlidingLog, Count: 9, Period: time.Second},
	{Algorithm: ratelimit.SlidingLog, Count: 1_000_003, Period: 7 * time.Second},
}

// drawCharges returns charges of one or several buckets, of which there are few. Sometimes the limit is another than it was.
func drawCharges(random *rand.Rand) []ratelimit.Charge {
	charges := make([]ratelimit.Charge, 1+random.IntN(8)/6)
	for i := range charges {
		n := random.IntN(len(batchLimits))
		c := ratelimit.Charge{Key: []byte("a"), Name: fmt.Sprintf("%d-%d", i, n), Limit: batchLimits[n], Cost: random.Int64N(4)}
		switch random.IntN(16) {
		case 0:
			c.Limit.Count = c.Limit.Count/2 + 1
		case 1:
			c.Cost = c.Limit.Capacity() / (1 + random.Int64N(5))
		}
		charges[i] = c
	}
	return charges
}

func drawPause(random *rand.Rand) time.Duration {
	pauses := []time.Duration{0, time.Microsecond, time.Millisecond, 100 * time.Millisecond, time.Second, time.Minute}
	d := time.Duration(random.Int64N(3)) * pauses[random.IntN(len(pauses))]
	if random.IntN(16) == 0 { // the clock is set back
		d = -d
	}
	return d
}

// seeds is how many random sequences a test goes through: under the race detector, to which they are alike, one.
func seeds(n uint64) uint64 {
	if raced {
		return 1
	}
	return n
}

// Calls that are decided as one are told what they would be one by one, and leave the same behind.
func TestMergedCallsAreAsSingleOnes(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprintf("told=%v", told), func(t *testing.T) {
			servers(t, func(t *testing.T, client *redis.Client) {
				for seed := range seeds(4) {
					random, w := rand.New(rand.NewPCG(seed, 6)), newTwins(t, client, told)
					for range 50 {
						w.advance(drawPause(random))
						w.take(t, redislimit.Asked{Charges: drawCharges(random), Calls: 2 + random.IntN(6)})
					}
				}
			})
		})
	}
}

// Each call of a batch sees what those before it took.
func TestBatchIsOneCallAfterTheOther(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprintf("told=%v", told), func(t *testing.T) {
			servers(t, func(t *testing.T, client *redis.Client) {
				for seed := range seeds(3) {
					random, w := rand.New(rand.NewPCG(seed, 7)), newTwins(t, client, told)
					for range 25 {
						w.advance(drawPause(random))
						var asked []redislimit.Asked
						for len(asked) < 8 {
							charges, calls := drawCharges(random), max(1, random.IntN(6)-2)
							if random.IntN(6) == 0 {
								charges, calls = cc("a", 1+random.Int64N(2), string(rune('a'+random.IntN(9)))), 1
							}
							if c := &charges[0]; calls == 1 && c.Limit.Algorithm == ratelimit.TokenBucket && c.Limit.Count < 10 {
								c.Wait = time.Duration(random.Int64N(3)) * time.Second
							}
							asked = append(asked, redislimit.Asked{Charges: charges, Calls: calls})
						}
						w.take(t, asked...)
					}
				}
			})
		})
	}
}

// What cannot be decided fails alone: the others are, and of those charges nothing is written.
func TestOneBadKeyFailsAlone(t *testing.T) {
	servers(t, func(t *testing.T, server *redis.Client) {
		store := redislimit.NewPatient(server)
		server.Set(t.Context(), "rl:{text}:tb:1m", "garbage", 0)
		server.RPush(t.Context(), "rl:{list}:fw:1m", "of another program")
		server.Set(t.Context(), "rl:{log}:sl:1m", "of another program", 0)
		answers, err := store.TakeTogether(t.Context(),
			redislimit.Asked{Charges: tb("text", 1), Calls: 1},
			redislimit.Asked{Charges: tb("good", 1), Calls: 1},
			redislimit.Asked{Charges: append(tb("beside", 1), fw("list", 1)...), Calls: 1},
			redislimit.Asked{Charges: sl("log", 1), Calls: 3},
			redislimit.Asked{Charges: lb("good", 1), Calls: 7},
			redislimit.Asked{Charges: tb("text", 1), Calls: 1},
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			key := keyOf(a.Charges[len(a.Charges)-1])
			if strings.Contains(key, "good") {
				if r := a.Results[0][0]; a.Err != nil || !r.Allowed || r.Remaining != 4 {
					t.Errorf("%s: %+v, error %v: want 4 to remain", key, r, a.Err)
				}
				if last := a.Results[a.Calls-1][0]; last.Allowed != (a.Calls <= 5) {
					t.Errorf("%s: call %d: %+v", key, a.Calls, last)
				}
				continue
			}
			text := "WRONGTYPE"
			if strings.Contains(key, "text") {
				text = "unreadable state"
			}
			if kindOf(a.Err) != redislimit.KindForeign || !strings.Contains(a.Err.Error(), text) || !strings.Contains(a.Err.Error(), key) {
				t.Errorf("%s: error %v: want %s", key, a.Err, text)
			}
		}
		if n := server.Exists(t.Context(), "rl:{beside}:tb:1m").Val(); n != 0 {
			t.Error("the bucket beside a bad one was charged")
		}
	})
}

// S16: where there is no memory, what writes nothing is decided.
func TestBatchOutOfMemory(t *testing.T) {
	server := redistest.Client(t)
	store := redislimit.NewPatient(server)
	take(t, store, tb("full", 5))
	if err := server.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	answers, err := store.TakeTogether(t.Context(),
		redislimit.Asked{Charges: tb("new", 1), Calls: 1},
		redislimit.Asked{Charges: tb("full", 1), Calls: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	if kind := kindOf(answers[0].Err); kind != redislimit.KindMemory {
		t.Errorf("error %v is of kind %q: want %q", answers[0].Err, kind, redislimit.KindMemory)
	}
	if answers[1].Err != nil || answers[1].Results[0][0].Allowed {
		t.Errorf("%+v: want a refusal", answers[1])
	}
}

// A caller that comes with an earlier time than the bucket knows is late alone.
func TestLateCallIsLateAlone(t *testing.T) {
	servers(t, func(t *testing.T, server *redis.Client) {
		clock := &handClock{}
		store, _ := clockedBy(t, clock, server, server, redislimit.ClientTimeOf(clock.now))
		clock.passed.Store(int64(time.Second))
		take(t, store, fw("late", 1))
		clock.passed.Store(0)
		answers, err := store.TakeTogether(t.Context(),
			redislimit.Asked{Charges: fw("a", 1), Calls: 1},
			redislimit.Asked{Charges: fw("late", 1), Calls: 2},
			redislimit.Asked{Charges: fw("b", 1), Calls: 1},
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			want := sinceEpoch(0)
			if string(a.Charges[0].Key) == "late" {
				want = sinceEpoch(time.Second)
			}
			if at := a.Results[0][0].At; a.Err != nil || at != want {
				t.Errorf("%s is decided at %v, error %v: want %v", a.Charges[0].Key, at, a.Err, want)
			}
		}
	})
}

// One text for all calls of a kind, whatever the order in which they come.
func TestArgumentsOfABatch(t *testing.T) {
	server := newMini(t)
	seen := &intercept{}
	server.client.AddHook(seen)
	store := redislimit.NewPatient(server.client)
	_, err := store.TakeTogether(t.Context(),
		redislimit.Asked{Charges: tb("a", 1), Calls: 1},
		redislimit.Asked{Charges: append(fw("b", 1), lb("b", 2)...), Calls: 3},
		redislimit.Asked{Charges: tb("c", 1), Calls: 1},
		redislimit.Asked{Charges: tb("d", 2), Calls: 1},
		redislimit.Asked{Charges: append(fw("e", 1), lb("e", 2)...), Calls: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		7, "rl:{a}:tb:1m", "rl:{c}:tb:1m", "rl:{b}:fw:1m", "rl:{b}:lb:1m", "rl:{e}:fw:1m", "rl:{e}:lb:1m", "rl:{d}:tb:1m", "",
		"1 2", "tb 5 60000000 5 0 1 0",
		"2 2 3 1", "fw 5 60000000 5 0 1 ", "lb 5 60000000 5 0 2 0",
		"1 1", "tb 5 60000000 5 0 2 0",
	}
	if got := seen.args[0][2:]; !reflect.DeepEqual(got, want) {
		t.Errorf("arguments are %v: want %v", got, want)
	}
}

// S03: a reply to merged calls that the script cannot have written is an error, never a decision.
func TestUnexpectedReplyToMergedCalls(t *testing.T) {
	const calls = 3 // of a bucket of 5
	for name, reply := range map[string][]int64{
		"short":                     {3, 0, 2, 36, 0},
		"long":                      {3, 0, 2, 36, 0, 1, 1},
		"more than asked":           {4, 0, 1, 36, 0, 1},
		"less than none":            {-1, 12, 0, 36, 0, 1},
		"all, and one refused":      {3, 12, 0, 36, 0, 1},
		"not all, and none refused": {2, 0, 0, 36, 0, 1},
		"more than there is":        {3, 0, 3, 36, 0, 1},
		"too much of a unit":        {3, 0, 2, 36, 60_000_000, 1},
		"less than nothing of one":  {3, 0, 2, 36, -1, 1},
		"none at all":               {},
	} {
		t.Run(name, func(t *testing.T) {
			values := make([]any, len(reply))
			for i, n := range reply {
				values[i] = n
			}
			client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:0"}) // never reached
			defer func() { _ = client.Close() }()
			client.AddHook(&intercept{answer: func(cmd redis.Cmder) (bool, error) {
				cmd.(interface{ SetVal(any) }).SetVal(values)
				return true, nil
			}})
			_, err := redislimit.NewPatient(client).TakeTogether(t.Context(), redislimit.Asked{Charges: tb("a", 1), Calls: calls})
			if kindOf(err) != redislimit.KindReply && (err == nil || !strings.Contains(err.Error(), "unexpected reply")) {
				t.Errorf("error %v", err)
			}
		})
	}
}
