package redislimit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

const keysAtOnce = 100

// Calls of one key each need no client that shows that it leads to a Cluster, also where they come at the same time. They
// are charged once.
func hiddenClusterUnderLoad(t *testing.T, options *redis.ClusterOptions) {
	store := redislimit.NewPatient(hidden{clusterClient(t, options)}, redislimit.Prefix("hidden:"))
	for want := int64(4); want >= 2; want-- {
		for key, err := range takeMany(t, store, keysAtOnce) {
			if err != nil {
				t.Error(err)
			}
			left(t, store, key, want)
		}
	}
	// A call whose keys live apart fails by itself, whoever it goes with.
	apart := append(tb("key-0", 1), tb("key-1", 1)...)
	errs := make(chan error)
	go func() {
		var err error
		for range 20 {
			err = store.Take(t.Context(), apart, make([]ratelimit.Result, 2))
		}
		errs <- err
	}()
	for key, err := range takeMany(t, store, keysAtOnce) {
		if err != nil {
			t.Error(err)
		}
		left(t, store, key, 1)
	}
	const want = `redislimit: take "hidden:{key-0}:tb:1m", "hidden:{key-1}:tb:1m": CROSSSLOT Keys in request don't hash to the same slot`
	if err := <-errs; err == nil || err.Error() != want {
		t.Errorf("error %v: want %s", err, want)
	}
}

// A server looks at all keys of a command before it runs it. One that it forbids is an error of those who want it.
func TestForbiddenKeyFailsAlone(t *testing.T) {
	server := redistest.Server(t)
	allowed := []string{"+@all", "~rl:{before-*", "~rl:{key-*"}
	client := redis.NewClient(redistest.User(t, server, "some", allowed...))
	t.Cleanup(func() { _ = client.Close() })
	store := redislimit.NewPatient(client)
	errs := make([]error, keysAtOnce)
	together(t, client, store, keysAtOnce, func(i int) {
		key := fmt.Sprint("key-", i)
		if i%10 == 5 {
			key = fmt.Sprint("other-", i)
		}
		_, errs[i] = takeOne(t.Context(), store, key)
	})
	for i, err := range errs {
		if i%10 != 5 {
			if err != nil {
				t.Error(err)
			}
			left(t, store, fmt.Sprint("key-", i), 4)
			continue
		}
		want := fmt.Sprintf(`redislimit: take "rl:{other-%d}:tb:1m": `, i)
		if kindOf(err) != redislimit.KindForbidden || !strings.HasPrefix(err.Error(), want+"NOPERM ") {
			t.Errorf("error %v: want %sNOPERM", err, want)
		}
	}
}
