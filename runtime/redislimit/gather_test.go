package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// party is calls of a test that are made at the same time.
type party struct {
	store *redislimit.Store
	wg    sync.WaitGroup
	mu    sync.Mutex
	errs  []error // of the calls, by when they were made
	took  []time.Duration
}

// call makes a call in the background, and returns when that waits.
func (p *party) call(ctx context.Context, charges []ratelimit.Charge) {
	p.mu.Lock()
	n := len(p.errs)
	p.errs, p.took = append(p.errs, nil), append(p.took, 0)
	p.mu.Unlock()
	p.wg.Go(func() {
		start := time.Now()
		err := p.store.Take(ctx, charges, make([]ratelimit.Result, len(charges)))
		p.mu.Lock()
		defer p.mu.Unlock()
		p.errs[n], p.took[n] = err, time.Since(start)
	})
	synctest.Wait()
}

// fill makes as many calls as go at once.
func (p *party) fill(ctx context.Context) {
	p.store.Near()
	for i := range redislimit.MaxFlights {
		p.call(ctx, tb(fmt.Sprintf("first-%d", i), 1))
	}
}

// commands returns the arguments of the commands that were sent.
func (f *fake) commands() [][]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.args)
}

// keysOf returns how many keys each command has that was sent.
func (f *fake) keysOf() (keys []int) {
	for _, args := range f.commands() {
		keys = append(keys, args[2].(int))
	}
	return keys
}

// While few calls are under way further ones go at once. Those that come then go together, as soon as one has landed.
func TestCallsGoTogether(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(10 * time.Millisecond)}
		p := party{store: redislimit.NewOn(client, nil)}
		p.fill(t.Context())
		time.Sleep(time.Millisecond)
		for i := range 30 {
			p.call(t.Context(), tb(fmt.Sprintf("then-%d", i), 1))
		}
		for range 30 {
			p.call(t.Context(), tb("the same", 1))
		}
		p.wg.Wait()
		if err := errors.Join(p.errs...); err != nil {
			t.Error(err)
		}
		if got, want := client.keysOf(), []int{1, 1, 1, 1, 31}; !slices.Equal(got, want) {
			t.Errorf("commands of %d keys: want %d", got, want)
		}
		if got, want := p.took[len(p.took)-1], 19*time.Millisecond; got != want {
			t.Errorf("the last took %v: want %v", got, want)
		}
		sent := client.commands()
		if shape := sent[len(sent)-1][3+31+1].(string); !strings.HasSuffix(shape, " 1 30") {
			t.Errorf("the last command says of its asks %q: want one of 30 calls at last", shape)
		}
	})
}

// many has the Store know that there are many calls.
func (p *party) many(t *testing.T) {
	t.Helper()
	for range 20 {
		for range 100 {
			p.call(t.Context(), tb("many", 1))
		}
		p.wg.Wait()
	}
	p.errs, p.took = nil, nil
}

// A batch holds up a server for a moment only: more calls than go together make up further ones. A full one does not wait.
func TestBatchesAreBounded(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(10 * time.Millisecond)}
		p := party{store: redislimit.NewOn(client, nil)}
		p.many(t)
		before := len(client.keysOf())
		p.call(t.Context(), tb("first", 1))
		for i := range 3*redislimit.MaxAsks - 1 {
			p.call(t.Context(), tb(fmt.Sprint(i), 1))
		}
		underWay := client.keysOf()[before:]
		p.wg.Wait()
		if want := []int{1, redislimit.MaxAsks, redislimit.MaxAsks}; !slices.Equal(underWay, want) {
			t.Errorf("commands of %d keys under way: want %d", underWay, want)
		}
		if got, want := client.keysOf()[before:], []int{1, redislimit.MaxAsks, redislimit.MaxAsks, redislimit.MaxAsks - 1}; !slices.Equal(got, want) {
			t.Errorf("commands of %d keys: want %d", got, want)
		}
	})
}

// Each caller's time counts from when it came, whether its call has departed or not.
func TestCallsThatWaitForOthersEndInTime(t *testing.T) {
	const ms = time.Millisecond
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: hang}
		p := party{store: redislimit.NewOn(client, nil)}
		p.fill(t.Context())
		time.Sleep(20 * ms)
		within, cancel := context.WithTimeout(t.Context(), 30*ms)
		defer cancel()
		canceled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*ms, cancel)
		p.call(t.Context(), tb("a", 1))
		p.call(within, tb("a", 1))
		p.call(canceled, tb("a", 1))
		p.call(canceled, tb("b", 1))
		time.Sleep(5 * ms)
		p.call(t.Context(), tb("a", 1)) // whose alarm is that of the first
		p.call(t.Context(), tb("c", 1))
		time.Sleep(10 * ms)
		if n := p.store.Waiting(); n != 4 {
			t.Errorf("%d calls wait: want the 4 whose time is not over", n)
		}
		p.wg.Wait()
		took, wants := p.took[redislimit.MaxFlights:], []struct {
			took time.Duration
			text string
		}{
			{100 * ms, `"rl:{a}:tb:1m": no answer within 100ms`},
			{30 * ms, `"rl:{a}:tb:1m": context deadline exceeded`},
			{10 * ms, `"rl:{a}:tb:1m": context canceled`},
			{10 * ms, `"rl:{b}:tb:1m": context canceled`},
			{100 * ms, `"rl:{a}:tb:1m": no answer within 100ms`},
			{100 * ms, `"rl:{c}:tb:1m": no answer within 100ms`},
		}
		for i, want := range wants {
			err := p.errs[redislimit.MaxFlights+i]
			if took[i] != want.took || err == nil || err.Error() != "redislimit: take "+want.text {
				t.Errorf("call %d took %v, error %v: want %v, %s", i, took[i], err, want.took, want.text)
			}
		}
		for _, args := range client.commands() {
			if slices.Contains(args, any("rl:{b}:tb:1m")) {
				t.Error("of a caller who had left before its batch departed something was sent")
			}
		}
	})
}

// A caller who leaves before its batch departs is not charged, and those who stay get their answers in the order in which
// they came.
func TestCallTakenBackFromAmongEqualOnes(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(10 * time.Millisecond)}
		store := redislimit.NewOn(client, nil)
		p := party{store: store}
		p.fill(t.Context())
		const calls = 9
		results := make([][]ratelimit.Result, calls)
		var wg sync.WaitGroup
		for i := range calls {
			ctx := t.Context()
			if i%3 == 1 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				time.AfterFunc(5*time.Millisecond, cancel)
			}
			results[i] = make([]ratelimit.Result, 1)
			wg.Go(func() { _ = store.Take(ctx, tb("a", 1), results[i]) })
			synctest.Wait()
		}
		wg.Wait()
		p.wg.Wait()
		var remaining []int64
		for i, r := range results {
			if i%3 != 1 && r[0].Allowed {
				remaining = append(remaining, r[0].Remaining)
			}
		}
		if want := []int64{4, 3, 2, 1, 0}; !slices.Equal(remaining, want) {
			t.Errorf("the calls that were admitted left %d: want %d", remaining, want)
		}
		sent := client.commands()
		if last := sent[len(sent)-1]; last[3+1+1] != "1 1 6" {
			t.Errorf("asked %v: want six calls of one charge", last[3:])
		}
	})
}

// More calls than a server can answer in time do not wait for it in vain, nor fill the memory.
func TestTooManyCallsWait(t *testing.T) {
	if testing.Short() { // as under the race detector, which knows fewer goroutines
		return
	}
	inFakeTime(t, func(t *testing.T) {
		store := redislimit.NewOn(&fake{do: hang}, nil)
		p := party{store: store}
		p.fill(t.Context())
		var wg sync.WaitGroup
		for range redislimit.MaxWaiting {
			wg.Go(func() { _, _ = takeOne(t.Context(), store, "a") })
		}
		synctest.Wait()
		took, err := takeOne(t.Context(), store, "a")
		want := fmt.Sprintf(`redislimit: take "rl:{a}:tb:1m": %d calls wait already`, redislimit.MaxWaiting)
		if took != 0 || kindOf(err) != redislimit.KindOverload || err.Error() != want {
			t.Errorf("took %v, kind %q, error %v: want at once, %s", took, kindOf(err), err, want)
		}
		wg.Wait()
		p.wg.Wait()
		if n := store.Waiting(); n != 0 {
			t.Errorf("%d calls wait: want none", n)
		}
	})
}

// The time in which a call finds out which server has its key is of its budget, too, if it then waits for others.
func TestAskingForTheServerIsOfTheBudget(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		var known atomic.Bool
		store := redislimit.NewOn(&fake{do: hang}, func(context.Context, string) (string, error) {
			if !known.Load() {
				time.Sleep(60 * time.Millisecond)
				known.Store(true)
			}
			return "a", nil
		})
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				took, err := takeOne(t.Context(), store, fmt.Sprint(i))
				if took != 100*time.Millisecond || kindOf(err) != redislimit.KindTimeout {
					t.Errorf("call %d took %v, error %v: want 100ms, %s", i, took, err, redislimit.KindTimeout)
				}
			})
		}
		wg.Wait()
	})
}

// An exchange that fails is one failure of its server, however many calls it had.
func TestBatchThatFailsIsOneFailure(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(10 * time.Millisecond)}
		p := party{store: redislimit.NewOn(client, nil)}
		p.fill(t.Context())
		for i := range 50 {
			p.call(t.Context(), tb(fmt.Sprint(i), 1))
		}
		time.Sleep(5 * time.Millisecond)
		client.serve(failing("LOADING Redis is loading the dataset in memory"))
		p.wg.Wait()
		for i, err := range p.errs[redislimit.MaxFlights:] {
			want := fmt.Sprintf(`redislimit: take "rl:{%d}:tb:1m": LOADING Redis is loading the dataset in memory`, i)
			if kindOf(err) != redislimit.KindLoading || err.Error() != want {
				t.Errorf("error %v: want %s", err, want)
			}
		}
		time.Sleep(time.Second)
		fails(t, p.store, "a", 3, redislimit.KindLoading)
		client.serve(nil)
		fails(t, p.store, "a", 1, "")
	})
}

// A hook of the client that panics, or ends its goroutine, does so to every caller of a batch, and to no other.
func TestHookThatBreaksABatch(t *testing.T) {
	for _, test := range []struct {
		name   string
		breaks func()
		want   any
		kind   redislimit.Kind
	}{
		{"panic", func() { panic("of a hook") }, "of a hook", ""},
		{"goexit", runtime.Goexit, nil, redislimit.KindReply},
	} {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				client := &fake{do: after(10 * time.Millisecond)}
				store := redislimit.NewOn(client, nil)
				p := party{store: store}
				p.fill(t.Context())
				var wg sync.WaitGroup
				var broken atomic.Int64
				for i := range redislimit.MaxAsks {
					wg.Go(func() {
						defer func() {
							if r := recover(); r == test.want {
								broken.Add(1)
							}
						}()
						if _, err := takeOne(t.Context(), store, fmt.Sprint(i)); kindOf(err) != test.kind {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				for i := range 10 {
					p.call(t.Context(), tb(fmt.Sprint("later-", i), 1))
				}
				var breaks atomic.Bool
				breaks.Store(true)
				client.serve(func(context.Context, string) error {
					if breaks.Swap(false) {
						test.breaks()
					}
					return nil
				})
				wg.Wait()
				p.wg.Wait()
				if n := broken.Load(); n != redislimit.MaxAsks {
					t.Errorf("%d callers had to do with it: want %d", n, redislimit.MaxAsks)
				}
				if err := errors.Join(p.errs...); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// To hooks and traces an exchange is the call's who came first, but it does not end with that one.
func TestExchangeIsOfTheFirstCall(t *testing.T) {
	type name struct{}
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(10 * time.Millisecond)}
		p := party{store: redislimit.NewOn(client, nil)}
		p.fill(t.Context())
		first, cancel := context.WithCancel(context.WithValue(t.Context(), name{}, "first"))
		p.call(first, tb("a", 1))
		p.call(context.WithValue(t.Context(), name{}, "second"), tb("b", 1))
		var seen any
		client.serve(func(ctx context.Context, _ string) error {
			seen = ctx.Value(name{})
			cancel()
			return away(10*time.Millisecond)(ctx, "")
		})
		p.wg.Wait()
		errs := p.errs[redislimit.MaxFlights:]
		if seen != "first" || kindOf(errs[0]) != redislimit.KindCanceled || errs[1] != nil {
			t.Errorf("the hook saw %v, errors %v: want first, which is canceled, and the second answered", seen, errs)
		}
	})
}

// Without a Timeout an exchange ends when all of its callers have left, and not before.
func TestExchangeEndsWithTheLastCaller(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(10 * time.Millisecond)}
		p := party{store: redislimit.NewOn(client, nil, redislimit.Timeout(0))}
		p.fill(t.Context())
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*time.Second)
			defer cancel()
			p.call(ctx, tb("a", 1))
		}
		var lasted time.Duration
		client.serve(func(ctx context.Context, _ string) error {
			start := time.Now()
			<-ctx.Done()
			lasted = time.Since(start)
			return ctx.Err()
		})
		p.wg.Wait()
		synctest.Wait()
		if want := 3*time.Second - 10*time.Millisecond; lasted != want {
			t.Errorf("it lasted %v: want %v", lasted, want)
		}
	})
}
