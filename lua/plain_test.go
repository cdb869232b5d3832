package lua

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// withoutPlain is Take by the algorithms alone.
var withoutPlain = start + "local reply, decided = { 0, 0, 0, 0 }, 0\n" + shared + take

// staged is a script's prelude by which it sees a server of the test's: the last argument is the time, in microseconds,
// and a command that fails, if one does. Keys expire by that time, at what the hash "ends" has of them, in milliseconds.
// "call SET", and so on, count commands by how they are called.
const staged = `
local server = redis
local redis = { error_reply = server.error_reply }
do
  local now, fails = string.match(ARGV[#ARGV], '^(%d+) (%u*)$')
  now = tonumber(now)
  local ms = (now - now % 1000) / 1000

  local function lasts(key, ttl)
    server.call('HSET', 'ends', key, string.format('%d', ms + ttl))
  end

  for name, run in pairs({ call = server.call, pcall = server.pcall }) do
    redis[name] = function(command, key, ...)
      local args = {...}
      server.call('INCR', name .. ' ' .. command)
      if command == fails then
        if name == 'call' then
          error('NOPERM', 0)
        end
        return { err = 'NOPERM' }
      elseif command == 'TIME' then
        return { string.format('%d', (now - now % 1000000) / 1000000), string.format('%d', now % 1000000) }
      end
      local ends = server.call('HGET', 'ends', key)
      if ends and tonumber(ends) < ms or server.call('EXISTS', key) == 0 then
        server.call('DEL', key)
        server.call('HDEL', 'ends', key)
        ends = nil
      end
      if command == 'PTTL' then
        return ends and ends - ms or server.call('EXISTS', key) - 2
      elseif command == 'PEXPIRE' then
        return lasts(key, args[1])
      elseif command == 'SET' then
        if #args ~= 3 or args[2] ~= 'PX' then
          error('the test knows no such SET')
        end
        lasts(key, args[3])
        return run('SET', key, args[1])
      end
      return run(command, key, ...)
    end
  end
end
`

// dump returns what there is under keys, and when it expires.
const dump = `
local all = {}
for i, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  local value = false
  if kind == 'string' then
    value = redis.call('GET', key)
  elseif kind == 'list' then
    value = redis.call('LRANGE', key, '0', '-1')
  elseif kind == 'zset' then
    value = redis.call('ZRANGE', key, '0', '-1', 'WITHSCORES')
  end
  all[i] = { kind, value, redis.call('HGET', 'ends', key) }
end
return all`

// Whatever calls come, and whatever is stored, Take answers and writes what it would without the plain way.
func TestPlainWayIsNoOther(t *testing.T) {
	const histories, length = 60, 60
	servers(t, func(t *testing.T, client *redis.Client) {
		histories, length := histories, length
		if strings.HasSuffix(t.Name(), "miniredis") { // which reads a script anew each time
			histories, length = 12, 20
		}
		other := redis.NewClient(&redis.Options{Addr: client.Options().Addr, DB: 1})
		defer func() { _ = other.Close() }()
		twins := [2]*twin{{client, redis.NewScript(staged + Take)}, {other, redis.NewScript(staged + withoutPlain)}}
		for seed := range uint64(histories) {
			h := newHistory(seed)
			twins[0].empty(t)
			twins[1].empty(t)
			for step := range length {
				call := h.next(t, twins)
				var got [2]any
				for i, twin := range twins {
					got[i] = twin.ask(t, call)
				}
				if !reflect.DeepEqual(got[0], got[1]) {
					t.Fatalf("seed %d, step %d: %q at %s:\n%v, want\n%v", seed, step, call.args, call.keys, got[0], got[1])
				}
				for i, twin := range twins {
					got[i] = twin.dump(t)
				}
				if !reflect.DeepEqual(got[0], got[1]) {
					t.Fatalf("seed %d, step %d: %q at %s leaves\n%q, want\n%q", seed, step, call.args, call.keys, got[0], got[1])
				}
			}
		}
		count := func(twin *twin, name string) int {
			n, _ := twin.client.Get(t.Context(), name).Int()
			return n
		}
		for _, command := range []string{"GET", "SET", "PTTL"} {
			plain, others, all := count(twins[0], "pcall "+command), count(twins[0], "call "+command), count(twins[1], "call "+command)
			t.Logf("%s: %d by the plain way and %d by others, %d without it", command, plain, others, all)
			if plain < all/5 || others < all/5 {
				t.Errorf("%s: %d by the plain way, %d by others: want a fifth of %d each at least", command, plain, others, all)
			}
		}
	})
}

// twin is one of two servers that are to be the same.
type twin struct {
	client *redis.Client
	script *redis.Script
}

// empty removes the buckets.
func (w *twin) empty(t *testing.T) {
	if err := w.client.Del(t.Context(), append(allKeys(), "ends")...).Err(); err != nil {
		t.Fatal(err)
	}
}

// ask returns the reply, with what is the same of errors.
func (w *twin) ask(t *testing.T, c call) any {
	reply, err := w.script.Run(t.Context(), w.client, c.keys, c.args...).Result()
	if err != nil {
		return errorOf(t, err.Error())
	}
	values := reply.([]any)
	for i := range values {
		if text, ok := values[i].(string); ok {
			values[i] = errorOf(t, text)
		}
	}
	return values
}

// errorOf returns what an error says besides the script and the line.
func errorOf(t *testing.T, text string) string {
	for _, known := range []string{"NOPERM", "WRONGTYPE", "unreadable state"} {
		if strings.Contains(text, known) {
			return known
		}
	}
	t.Fatalf("unexpected error: %s", text)
	return ""
}

func (w *twin) dump(t *testing.T) any {
	all, err := w.client.Eval(t.Context(), dump, allKeys()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// call are the arguments of the script, and the limit of each key.
type call struct {
	keys   []string
	limits []int
	args   []any
}

var codes = []string{"tb", "lb", "fw", "sw", "sl", "cc"}

// limits are of count, period and capacity. Of some not all numbers are exact in a product below 2^53.
var limits = [][3]int64{
	{1, 1000, 1}, {5, 1_000_000, 5}, {7, 1_000_001, 3}, {3, 1000, 7}, {1000, 60_000_000, 1000}, {999_983, 60_000_000, 1_000_000},
	{1000, 31_622_399_999_999, 1000}, {1, 315_360_000_000_000, 10}, {999_999_999, 86_399_999_999, 999_999_999},
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
		harm = []any{"set", key, h.state(c.limits[i])}
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
		shape := fmt.Sprintf("%d %d", charges, asks)
		if h.in(12) {
			for range asks {
				shape += fmt.Sprint(" ", h.IntN(4))
			}
		}
		c.args = append(c.args, shape)
		kind, limit := make([]string, charges), make([]int, charges)
		for i := range charges {
			kind[i], limit[i] = codes[h.IntN(2)], h.IntN(len(limits))
			if h.in(15) {
				kind[i] = codes[h.IntN(len(codes))]
			}
			c.args = append(c.args, h.charge(kind[i], limit[i]))
		}
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

func (h *history) charge(code string, limit int) string {
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
		if h.in(12) {
			extra = fmt.Sprint(h.Int64N(2 * period))
		}
		if code == "tb" && h.in(12) {
			refill = 1
		}
	case "cc":
		cost, extra = min(cost, 5), []string{"", "ann", "bob"}[h.IntN(3)]
	}
	return fmt.Sprintf("%s %d %d %d %d %d %s", code, count, period, capacity, refill, cost, extra)
}

// state returns what may be stored under a key: near what a bucket may hold, or what no algorithm writes.
func (h *history) state(limit int) string {
	count, period, capacity := limits[limit][0], limits[limit][1], limits[limit][2]
	near := func(n int64) int64 { return max(n+h.Int64N(5)-2, 0) }
	switch h.IntN(8) {
	case 0:
		return []string{
			"", "garbage", "1 2 3 4", "-1 1 1", "1.5 1 1", "1 1 1 ", "1 ", "8589934592 1 1", "1 9007199254740992 1", "9007199254740992",
			"1 1 9007199254740992", "99999999999999999999999999", "1 99999999999999999999999999 1", "007 1 0", "9007199254740991 3",
		}[h.IntN(15)]
	case 1, 2: // of a tb, near its capacity
		return fmt.Sprintf("%d %d %d", near(capacity), near(h.now), h.Int64N(period))
	case 3: // of a tb, where numbers are hardly exact
		return fmt.Sprintf("%d %d %d", near(exact/period-2), near(h.now-h.Int64N(1000)), h.Int64N(period))
	case 4: // of a tb, for long
		return fmt.Sprintf("%d %d %d", h.Int64N(capacity+1), near(h.now-min(h.now, exact/count)), near(period))
	case 5: // of an lb, near its capacity
		return fmt.Sprintf("%d %d", near(h.now+capacity*(period/count)), near(count))
	case 6: // of an lb, where numbers are hardly exact
		return fmt.Sprintf("%d %d", near(h.now+(exact-h.Int64N(4*period))/count), near(count))
	default:
		return fmt.Sprintf("%d", near(h.now+h.Int64N(period)))
	}
}
