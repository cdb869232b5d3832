package redislimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// pooled returns a server that takes its time, at the other end of a client that has so many connections to it.
func pooled(connections int, d time.Duration) func(context.Context, string) error {
	free := make(chan struct{}, connections)
	return func(context.Context, string) error {
		patience := time.NewTimer(4 * time.Second)
		defer patience.Stop()
		select {
		case free <- struct{}{}:
		case <-patience.C:
			return redis.ErrPoolTimeout
		}
		time.Sleep(d)
		<-free
		return nil
	}
}

// Callers who have less time than the server takes leave exchanges behind that still have their connections. Others must
// not be late for that, nor the server be taken for one that is silent.
func TestCallersWithLessTimeThanARoundTrip(t *testing.T) {
	for _, timeout := range []time.Duration{100 * time.Millisecond, 0} {
		inFakeTime(t, func(t *testing.T) {
			client := &fake{do: pooled(redislimit.FarFlights, 50*time.Millisecond)}
			var outages []redislimit.Outage
			report := func(o redislimit.Outage) { outages = append(outages, o) }
			p := party{store: redislimit.NewOn(client, nil, redislimit.OnOutage(report), redislimit.Timeout(timeout))}
			hurried := party{store: p.store}
			for i := range 5000 {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
				defer cancel()
				hurried.call(ctx, tb("hurried", 1))
				if i%500 == 0 {
					p.call(t.Context(), tb("other", 1))
				}
				time.Sleep(200 * time.Microsecond)
			}
			p.wg.Wait()
			hurried.wg.Wait()
			if err := errors.Join(p.errs...); err != nil {
				t.Error(err)
			}
			for _, took := range p.took {
				if took > 100*time.Millisecond {
					t.Errorf("a call took %v", took)
				}
			}
			time.Sleep(time.Second)
			if len(outages) > 0 {
				t.Errorf("outages %v", outages)
			}
		})
	}
}
