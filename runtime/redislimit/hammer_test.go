package redislimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// timed is a script's prelude that notes when each script decided: in the list "calls", its last argument and the
// server's time.
const timed = `
local server = redis
local redis = { error_reply = server.error_reply, status_reply = server.status_reply, pcall = server.pcall }
redis.call = function(command, ...)
  local reply = server.call(command, ...)
  if command == 'TIME' then
    server.call('RPUSH', 'calls', ARGV[#ARGV] .. ' ' .. reply[1] .. ' ' .. reply[2])
  end
  return reply
end
`

// decision is a call, what came of it, and when it was decided by the server's clock.
type decision struct {
	ratelimit.Result
	charge ratelimit.Charge
	refund bool
	at     time.Time
}

// hammer calls as fast as it can for a while, from 64 goroutines over 8 clients, and returns what was decided, in the
// order in which it was. What it takes of a concurrency limit it gives back.
func hammer(t *testing.T, limit ratelimit.Limit, span time.Duration) []decision {
	t.Helper()
	clients := connect(t, 8)
	callers := make([]*caller, 64)
	var inside atomic.Int64 // calls that have a slot
	var wg, connected sync.WaitGroup
	connected.Add(len(callers))
	var end time.Time
	start := make(chan struct{})
	for i := range callers {
		client := clients[i%len(clients)]
		c := newCaller(i, client, limit)
		callers[i] = c
		wg.Go(func() {
			err := client.Ping(t.Context()).Err()
			connected.Done()
			<-start
			for err == nil && (len(c.made) < leastCalls || time.Now().Before(end)) {
				err = c.call(t, &inside)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	connected.Wait()
	end = time.Now().Add(span)
	close(start)
	wg.Wait()
	return inOrder(t, clients[0], callers)
}

// leastCalls is how many calls a caller makes, however busy the machine is.
const leastCalls = 10

// caller calls again and again.
type caller struct {
	id    int
	limit ratelimit.Limit
	store *redislimit.Store
	made  []decision
}

func newCaller(id int, client *redis.Client, limit ratelimit.Limit) *caller {
	c := &caller{id: id, limit: limit}
	c.store = redislimit.NewWithPrelude(client, timed).WithLastArgument(func() string {
		return fmt.Sprintf("%d %d", id, len(c.made))
	})
	return c
}

func (c *caller) call(t *testing.T, inside *atomic.Int64) error {
	charges := []ratelimit.Charge{{Key: []byte("hammered"), Name: "limit", Limit: c.limit, Cost: 1}}
	if c.limit.Algorithm == ratelimit.Concurrency {
		charges[0].Holder = fmt.Sprintf("%d:%d", c.id, len(c.made))
	}
	results := make([]ratelimit.Result, 1)
	if err := c.store.Take(t.Context(), charges, results); err != nil {
		return err
	}
	c.made = append(c.made, decision{Result: results[0], charge: charges[0]})
	if c.limit.Algorithm != ratelimit.Concurrency || !results[0].Allowed {
		return nil
	}
	if n := inside.Add(1); n > c.limit.Count {
		t.Errorf("%d calls at once: want at most %d", n, c.limit.Count)
	}
	inside.Add(-1)
	err := c.store.Refund(t.Context(), charges)
	c.made = append(c.made, decision{charge: charges[0], refund: true})
	return err
}

// inOrder returns what the callers made, as the server noted it.
func inOrder(t *testing.T, client *redis.Client, callers []*caller) []decision {
	t.Helper()
	calls, err := client.LRange(t.Context(), "calls", 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	var all []decision
	for _, call := range calls {
		var id, n int
		var seconds, micros int64
		if _, err := fmt.Sscan(call, &id, &n, &seconds, &micros); err != nil {
			t.Fatal(err)
		}
		d := callers[id].made[n]
		d.at = time.Unix(seconds, micros*1000)
		all = append(all, d)
	}
	return all
}

// connect returns clients of one new server.
func connect(t *testing.T, n int) []*redis.Client {
	t.Helper()
	options := redistest.Server(t)
	clients := make([]*redis.Client, n)
	for i := range clients {
		o := *options
		clients[i] = redis.NewClient(&o)
		t.Cleanup(func() { _ = clients[i].Close() })
	}
	return clients
}
