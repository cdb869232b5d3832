package lua

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// withoutPlain is Take by the algorithms alone.
var withoutPlain = strings.Replace(Take, "n, decided, failed = decide_plain(now, reply)\n", "\n", 1)

// staged is a script's prelude by which it sees a server of the test's: the last argument is the time, in microseconds,
// and a command that fails, if one does, or does of one key. Keys expire by that time, at what the hash "ends" has of them, in milliseconds.
// "call SET", and so on, count commands by how they are called.
const staged = `
local server = redis
local redis = { error_reply = server.error_reply }
do
  local now, fails, of = string.match(ARGV[#ARGV], '^(%d+) (%u*) ?(.*)$')
  now = tonumber(now)
  local ms = (now - now % 1000) / 1000

  local function lasts(key, ttl)
    server.call('HSET', 'ends', key, string.format('%d', ms + ttl))
  end

  for name, run in pairs({ call = server.call, pcall = server.pcall }) do
    redis[name] = function(command, key, ...)
      local args = {...}
      server.call('INCR', name .. ' ' .. command)
      if command == fails and (of == '' or of == key) then
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
			if n := count(twins[1], "pcall "+command); n > 0 {
				t.Errorf("%s: %d by the plain way where there is none", command, n)
			}
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
