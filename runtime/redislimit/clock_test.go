package redislimit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// epoch is the time at which a test begins: some microseconds into a millisecond, so that rounding shows.
var epoch = time.Date(2026, 7, 1, 12, 0, 0, 123_456_000, time.UTC)

// sinceEpoch returns the time that has passed since 1970 when d has passed since the epoch.
func sinceEpoch(d time.Duration) time.Duration { return time.Duration(epoch.UnixNano()) + d }

// ownClock is a script's prelude that takes the place of the server's clock, which no test can set, and of the expiry
// of keys that hangs on it. The time is the script's last argument, in seconds and microseconds. A key that is to expire
// does so by that time: for the server it expires sixty years later, far from the server's time, and so stays until a
// script looks at it. Thus the server itself sees to it which commands keep an expiry. "readings" counts how often the
// time was asked for, except in a Cluster, where a script has no key for that.
const ownClock = `
local server = redis
` + expiryTime + `
local redis = { error_reply = server.error_reply, status_reply = server.status_reply }
do
  local LATER = 60 * 365 * 24 * 3600 * 1000
  local seconds, micros = string.match(ARGV[#ARGV], '^(%d+) (%d+)$')
  local now = tonumber(seconds) * 1000 + math.floor(tonumber(micros) / 1000)

  local function at(ttl)
    return string.format('%d', now + ttl + LATER)
  end

  for name, run in pairs({ call = server.call, pcall = server.pcall }) do
    redis[name] = function(command, key, ...)
      if command == 'TIME' then
        server.pcall('INCR', 'readings')
        return { seconds, micros }
      end
      local expiry = expiryTime(key) - LATER
      if expiry >= 0 and expiry < now then
        server.call('DEL', key)
      end
      local args = {...}
      if command == 'PTTL' then
        local ttl = run('PTTL', key)
        return type(ttl) == 'number' and ttl >= 0 and expiry - now or ttl
      elseif command == 'PEXPIRE' and #args == 1 then
        return run('PEXPIREAT', key, at(args[1]))
      elseif command == 'SET' and #args == 3 and args[2] == 'PX' then
        local reply = run('SET', key, args[1])
        if reply.ok then
          server.call('PEXPIREAT', key, at(args[3])) -- SET has PXAT from Redis 6.2 on
        end
        return reply
      elseif command == 'SET' or string.find(command, 'EXPIRE') or string.find(command, 'TTL') then
        error('the test knows no such ' .. command)
      end
      return run(command, key, ...)
    end
  end
end
`

// expiryTime is what PEXPIRETIME is from Redis 7.0 on: when a key expires, in milliseconds, or less than 0. Before, the time
// may go on while a script runs.
const expiryTime = `
local function expiryTime(key)
  local reply = redis.pcall('PEXPIRETIME', key)
  if type(reply) == 'number' then
    return reply
  end
  local function now()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
  end
  while true do
    local before, ttl = now(), redis.call('PTTL', key)
    if ttl < 0 then
      return ttl
    elseif before == now() then
      return before + ttl
    end
  end
end
`

// expiryOf returns when a key expires, since 1970, or 0 if it is not to.
func expiryOf(t *testing.T, client *redis.Client, key string) time.Duration {
	t.Helper()
	at, err := client.Eval(t.Context(), expiryTime+"return expiryTime(KEYS[1])", []string{key}).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(max(at, 0)) * time.Millisecond
}

// expire removes what has expired by that clock.
const expire = ownClock + `
for _, key in ipairs(server.call('KEYS', '*')) do
  redis.call('TYPE', key)
end
return 'OK'`

// handClock is a clock that a test moves, from the epoch on.
type handClock struct{ passed atomic.Int64 }

func (c *handClock) now() time.Time { return epoch.Add(time.Duration(c.passed.Load())) }

// text returns the time as ownClock reads it.
func (c *handClock) text() string {
	now := c.now()
	return fmt.Sprintf("%d %d", now.Unix(), now.Nanosecond()/1000)
}

// notRemembering is for a Store on a clock of the test's, which on a busy machine may seem to run as the process's does for a
// second of small steps. Then refusals are remembered, and not over when the test says so.
var notRemembering = redislimit.DenyCache(0)

// clocked returns a Store on a server, or a Cluster, that is the test's and is emptied, with a clock that advance moves.
func clocked(t *testing.T, client redis.UniversalClient) (store *redislimit.Store, advance func(time.Duration)) {
	t.Helper()
	clock := &handClock{}
	return clockedBy(t, clock, client, client)
}

// clockedBy is clocked by a clock of the test's, for a Store with options. Where the Store's client may not do all that it
// takes, another one does.
func clockedBy(t *testing.T, clock *handClock, client, all redis.UniversalClient, opts ...redislimit.Option) (store *redislimit.Store, advance func(time.Duration)) {
	t.Helper()
	eachServer(t, all, func(ctx context.Context, server *redis.Client) error { return server.FlushAll(ctx).Err() })
	opts = append([]redislimit.Option{notRemembering}, opts...)
	return redislimit.NewWithPrelude(client, ownClock, opts...).WithLastArgument(clock.text), func(d time.Duration) {
		if d < 0 { // a key that has expired by now does not come back
			eachServer(t, all, func(ctx context.Context, server *redis.Client) error {
				return server.Eval(ctx, expire, nil, clock.text()).Err()
			})
		}
		clock.passed.Add(int64(d))
	}
}

// eachServer does something with all servers that the client leads to, at the same time.
func eachServer(t *testing.T, client redis.UniversalClient, do func(context.Context, *redis.Client) error) {
	t.Helper()
	ctx := context.Background() // some tests of the suite end with their context
	err := fmt.Errorf("servers of a %T: not known", client)
	switch client := client.(type) {
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, do)
	case *redis.Ring:
		err = client.ForEachShard(ctx, do)
	case *redis.Client:
		err = do(ctx, client)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mini is a miniredis whose clock is the test's: it moves the time and expires keys.
type mini struct {
	*miniredis.Miniredis
	client *redis.Client
	now    time.Time
}

func newMini(t *testing.T) *mini {
	t.Helper()
	m := &mini{Miniredis: miniredis.RunT(t)}
	m.empty()
	m.client = redis.NewClient(&redis.Options{Addr: m.Addr()})
	t.Cleanup(func() { _ = m.client.Close() })
	return m
}

// empty takes the server back to the epoch and an empty database.
func (m *mini) empty() {
	m.now = epoch
	m.SetTime(m.now)
	m.FlushAll()
}

func (m *mini) advance(d time.Duration) {
	m.now = m.now.Add(d)
	m.SetTime(m.now)
	m.FastForward(d)
}

// watched is a Store that checks, after each call, what only the server can show. It does one call at a time.
type watched struct {
	*redislimit.Store
	mu     sync.Mutex
	t      *testing.T
	server *mini
}

// R05, R06, R08, R09, S09: slack is what a key may live longer than its bucket needs, and must live longer at least by a
// millisecond, whatever call it was written by.
const slack = 3 * time.Millisecond

func (w *watched) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.contents()
	err := w.Store.Take(ctx, charges, results)
	refused := err != nil
	for _, r := range results {
		refused = refused || !r.Allowed
	}
	after := w.contents()
	if refused {
		w.same(before, after)
	}
	w.bounds(after)
	for i, c := range charges {
		if key := keyOf(c); err == nil && !refused && c.Cost > 0 {
			if ttl := after[key].ttl; ttl < results[i].ResetAfter+time.Millisecond || ttl > results[i].ResetAfter+slack {
				w.t.Errorf("%s lives for %v: want the %v until it is as new, and 1 ms to %v more", key, ttl, results[i].ResetAfter, slack)
			}
		}
	}
	return err
}

func (w *watched) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.contents()
	err := w.Store.Peek(ctx, charges, results)
	after := w.contents()
	w.same(before, after)
	for key, v := range after {
		if v.ttl != before[key].ttl {
			w.t.Errorf("peek changed the time to live of %s from %v to %v", key, before[key].ttl, v.ttl)
		}
	}
	return err
}

func (w *watched) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.Store.Refund(ctx, charges)
	w.bounds(w.contents())
	return err
}

func (w *watched) Reset(ctx context.Context, charges []ratelimit.Charge) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Store.Reset(ctx, charges)
}

type content struct {
	text string
	ttl  time.Duration
}

func (w *watched) contents() map[string]content {
	all := map[string]content{}
	for _, key := range w.server.Keys() {
		var text string
		var err error
		switch w.server.Type(key) {
		case "list":
			var list []string
			list, err = w.server.List(key)
			text = strings.Join(list, ", ")
		case "zset":
			var scores map[string]float64
			scores, err = w.server.SortedSet(key)
			text = fmt.Sprint(scores) // by member
		default:
			text, err = w.server.Get(key)
		}
		if err != nil {
			w.t.Error(err)
		}
		all[key] = content{text, w.server.TTL(key)}
	}
	return all
}

// same checks that no key came, went, changed or lives less long.
func (w *watched) same(before, after map[string]content) {
	if len(before) != len(after) {
		w.t.Errorf("%d keys have become %d", len(before), len(after))
	}
	for key, b := range before {
		if a := after[key]; a.text != b.text || a.ttl < b.ttl {
			w.t.Errorf("%s has changed from %v to %v", key, b, a)
		}
	}
}

// bounds checks what holds for every key.
func (w *watched) bounds(all map[string]content) {
	const embedded = 44 // bytes of a string that Redis keeps in one piece with its header
	for key, c := range all {
		if c.ttl <= 0 {
			w.t.Errorf("%s holds %q for ever", key, c.text)
		}
		if w.server.Type(key) == "string" && len(c.text) > embedded {
			w.t.Errorf("%s holds %q: want at most %d bytes", key, c.text, embedded)
		}
	}
}

func keyOf(c ratelimit.Charge) string {
	algorithm := map[ratelimit.Algorithm]string{
		ratelimit.TokenBucket:   "tb",
		ratelimit.FixedWindow:   "fw",
		ratelimit.SlidingWindow: "sw",
		ratelimit.LeakyBucket:   "lb",
		ratelimit.SlidingLog:    "sl",
		ratelimit.Concurrency:   "cc",
	}[c.Limit.Algorithm]
	return "rl:{" + string(c.Key) + "}:" + algorithm + ":" + c.Name
}
