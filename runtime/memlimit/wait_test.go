package memlimit

import (
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const ms = time.Millisecond

var fivePerSecond = map[string]ratelimit.Limit{
	"greedy token bucket": {Count: 5, Period: time.Second, Burst: 1},
	"leaky bucket":        {Algorithm: ratelimit.LeakyBucket, Count: 5, Period: time.Second, Burst: 1},
}

func patient(limit ratelimit.Limit, cost int64, wait time.Duration) []ratelimit.Charge {
	charges := one("key", limit, cost)
	charges[0].Wait = wait
	return charges
}

// R42: one call at once, five in the order of their turns, and those refused at once for whom a second is too short.
func TestTurnsAreGivenInOrder(t *testing.T) {
	for name, limit := range fivePerSecond {
		synctest.Test(t, func(t *testing.T) {
			store := New()
			for i := range 1000 {
				r := take(t, store, patient(limit, 1, time.Second))
				want := ratelimit.Result{Allowed: true, Limit: 1, Delay: time.Duration(i) * 200 * ms, ResetAfter: time.Duration(i+1) * 200 * ms}
				if i > 5 {
					want = ratelimit.Result{Limit: 1, RetryAfter: 200 * ms, ResetAfter: 1200 * ms}
				}
				want.At = time.Duration(time.Now().UnixMicro()) * time.Microsecond
				if r != want {
					t.Fatalf("%s, call %d:\n got %+v\nwant %+v", name, i, r, want)
				}
			}
		})
	}
}

func TestTurnsOfAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := New()
		limit := ratelimit.Limit{Count: 2, Period: time.Second, Refill: ratelimit.Interval}
		for i, want := range []time.Duration{0, 0, time.Second, time.Second, 2 * time.Second, 2 * time.Second} {
			if r := take(t, store, patient(limit, 1, 2*time.Second)); !r.Allowed || r.Delay != want {
				t.Errorf("call %d: %+v: want a delay of %v", i, r, want)
			}
		}
		time.Sleep(100 * ms)
		if r := take(t, store, patient(limit, 1, 2*time.Second)); r.RetryAfter != 900*ms || r.ResetAfter != 2900*ms {
			t.Errorf("one too many: %+v", r)
		}
		time.Sleep(900 * ms)
		if r := take(t, store, patient(limit, 1, 2*time.Second)); !r.Allowed || r.Delay != 2*time.Second {
			t.Errorf("after RetryAfter: %+v", r)
		}
	})
}

// A call that no longer waits gives back what nobody waits behind, and so gives no turn away twice.
func TestWaiterGivesItsTurnBack(t *testing.T) {
	for name, limit := range fivePerSecond {
		for _, c := range []struct {
			waits time.Duration // how long the call waited for its turn at 400 ms
			after []ratelimit.Charge
			want  time.Duration // delay of the next call
		}{
			{waits: 0, want: 400 * ms},
			{waits: 250 * ms, want: 150 * ms},
			{waits: 0, after: patient(limit, 1, time.Minute), want: 800 * ms}, // one that waits behind, and would not come earlier
		} {
			synctest.Test(t, func(t *testing.T) {
				store := New()
				take(t, store, patient(limit, 1, time.Minute))
				take(t, store, patient(limit, 1, time.Minute))
				r := take(t, store, patient(limit, 1, time.Minute))
				if r.Delay != 400*ms {
					t.Fatalf("%s: %+v", name, r)
				}
				if c.after != nil {
					take(t, store, c.after)
				}
				time.Sleep(c.waits)
				back := patient(limit, 1, time.Minute)
				back[0].Delay = r.Delay - c.waits
				refund(t, store, back)
				if r := take(t, store, patient(limit, 1, time.Minute)); r.Delay != c.want {
					t.Errorf("%s, %+v: the next waits %v: want %v", name, c, r.Delay, c.want)
				}
			})
		}
	}
}

// More is out than calls with this wait could have taken: the bucket believes as much as those could.
func TestDebtBeyondTheWaitIsNotBelieved(t *testing.T) {
	interval := ratelimit.Limit{Count: 5, Period: time.Second, Refill: ratelimit.Interval}
	for _, test := range []struct {
		limit                ratelimit.Limit
		patient, impatient   time.Duration // RetryAfter with a wait of a second, and with none
		reset, impatientLeft time.Duration // ResetAfter
	}{
		{fivePerSecond["greedy token bucket"], 400 * ms, 200 * ms, 1400 * ms, 200 * ms}, // 1 + 6 units, and 1
		{interval, 2 * time.Second, time.Second, 3 * time.Second, time.Second},          // 5 + 10 units, and 5
	} {
		synctest.Test(t, func(t *testing.T) {
			store := New()
			for range 100 {
				take(t, store, patient(test.limit, 1, time.Minute))
			}
			if r := take(t, store, patient(test.limit, 1, time.Second)); r.Allowed || r.RetryAfter != test.patient || r.ResetAfter != test.reset {
				t.Errorf("%+v: %+v: want %v, %v", test.limit, r, test.patient, test.reset)
			}
			if r := take(t, store, one("key", test.limit, 1)); r.Allowed || r.RetryAfter != test.impatient || r.ResetAfter != test.impatientLeft {
				t.Errorf("%+v: %+v: want no debt", test.limit, r)
			}
		})
	}
}

// The longest waits and the highest debts, each on what each other of its algorithm left.
func TestExtremesOfWaitingDoNotOverflow(t *testing.T) {
	const years = 130 * 365 * 24 * time.Hour // a hundred to fill, ten of waiting, and a period
	limits := []ratelimit.Charge{
		{Limit: ratelimit.Limit{Count: 1, Period: 87600 * time.Hour, Burst: 10}, Wait: 87600 * time.Hour},
		{Limit: ratelimit.Limit{Count: 1, Period: ms, Burst: 1_000_000_000}, Wait: 1_000_000 * time.Second},
		{Limit: ratelimit.Limit{Count: 1_000_000_000, Period: 1000 * time.Second}, Wait: 1000 * time.Second},
		{Limit: ratelimit.Limit{Count: 1_000_000_000, Period: 87600 * time.Hour}, Wait: 5 * time.Hour},
	}
	for _, change := range []func(*ratelimit.Limit){
		func(*ratelimit.Limit) {},
		func(l *ratelimit.Limit) { l.Refill = ratelimit.Interval },
		func(l *ratelimit.Limit) { l.Algorithm = ratelimit.LeakyBucket },
	} {
		for _, c := range limits {
			for _, d := range limits {
				change(&c.Limit)
				change(&d.Limit)
				store := New()
				for i, p := range []ratelimit.Charge{c, c, c, d, d, c} {
					r := take(t, store, patient(p.Limit, p.Limit.Capacity(), p.Wait))
					if i == 0 && !r.Allowed || r.Delay < 0 || r.Delay > p.Wait || r.RetryAfter < 0 || r.RetryAfter > years || r.ResetAfter <= 0 || r.ResetAfter > years {
						t.Errorf("%+v after %+v, call %d: %+v", d, c, i, r)
					}
					back := patient(p.Limit, 1, p.Wait)
					back[0].Delay = r.Delay
					refund(t, store, back)
				}
			}
		}
	}
}
