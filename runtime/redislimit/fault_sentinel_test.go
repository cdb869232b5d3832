package redislimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// known is how soon after a replica took over its master's place it must decide: the client has to hear of it.
const known = 5 * time.Second

// S04: under load a replica takes over, because the master was killed, or because somebody wants it so. The old master, where
// it still lives, takes no more writes; no call is told so for long, and each is charged once at most.
func TestSentinelFailover(t *testing.T) {
	tests := []struct {
		name string
		do   func(*testing.T, *redistest.Sentinels)
	}{
		{"the master is killed", func(_ *testing.T, s *redistest.Sentinels) { s.Master.Kill() }},
		{"the master becomes a replica", func(t *testing.T, s *redistest.Sentinels) {
			options := s.Options()
			sentinel := redis.NewSentinelClient(&redis.Options{Addr: options.SentinelAddrs[0]})
			defer func() { _ = sentinel.Close() }()
			if err := sentinel.Failover(t.Context(), options.MasterName).Err(); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			servers := redistest.Sentinel(t)
			client := redis.NewFailoverClient(servers.Options())
			defer func() { _ = client.Close() }()
			var outages transitions
			store := redislimit.New(client, redislimit.OnOutage(outages.note))
			callers := underLoad(t, func(n int) error {
				return store.Take(t.Context(), fw(fmt.Sprint(n), 1), make([]ratelimit.Result, 1))
			})
			callers.answered(t, time.Now(), 10*loadCallers)
			began := time.Now()
			test.do(t, servers)
			replica := redis.NewClient(servers.Replica.Options())
			defer func() { _ = replica.Close() }()
			eventually(t, func() error {
				role, err := replica.Do(t.Context(), "role").Slice()
				if err == nil && role[0] != "master" {
					err = fmt.Errorf("the replica is a %v", role[0])
				}
				return err
			})
			took := time.Now()
			returned := callers.answered(t, took, 1)
			callers.answered(t, time.Now(), 10*loadCallers)
			calls := callers.end()

			kinds := onlyKinds(t, calls, redislimit.KindTimeout, redislimit.KindConnection, redislimit.KindOutage, redislimit.KindReadOnly)
			asked, _ := asked(between(calls, began, took))
			t.Logf("errors %v; p99 %v, most %v; a replica took over after %v, and decides %v after that; told %v",
				kinds, percentile(asked, 99), percentile(asked, 100), took.Sub(began), returned, outages.told())
			if returned > known {
				t.Errorf("the new master decides %v after it took over: want %v at most", returned, known)
			}
			chargedOnce(t, redislimit.NewPatient(replica), between(calls, took, time.Now()))
		})
	}
}
