package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestIdleUnitsAreGivenBack(t *testing.T) {
	in(t, func(t *testing.T) {
		store, limit := newCounter(), window(100, time.Hour)
		l := newLimiter(t, store)
		g := l.Guard("m", stocked(limit, 10))
		for range 4 {
			calls(t, g, 1)
			time.Sleep(900 * time.Millisecond)
		}
		store.check(t, 10)
		time.Sleep(time.Second)
		store.check(t, -6)
		if left := remaining(t, store, limit); left != 96 || l.Piles() != 0 {
			t.Errorf("%d are left, and %d piles are kept", left, l.Piles())
		}
		calls(t, g, 1) // is watched again
		time.Sleep(2 * time.Second)
		store.check(t, 10, -9)
	})
}

func TestUnitsOfManyBucketsAreGivenBackTogether(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		var batches atomic.Int32
		refund := store.refund
		store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
			batches.Add(1)
			return refund(ctx, charges)
		}
		r := stocked(window(100, time.Hour), 10)
		r.Key = "{n}"
		g := newLimiter(t, store).Guard("m", r)
		for i := range int64(40) {
			if err := g.Allow(t.Context(), ratelimit.Int(i)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		store.check(t, slices.Concat(slices.Repeat([]int64{10}, 40), slices.Repeat([]int64{-9}, 40))...)
		if n := batches.Load(); n != 3 {
			t.Errorf("they were given back in %d calls: want 3", n)
		}
	})
}

func TestClose(t *testing.T) {
	in(t, func(t *testing.T) {
		store, limit := newCounter(), window(100, time.Hour)
		l := newLimiter(t, store)
		g := l.Guard("m", stocked(limit, 10))
		calls(t, g, 3)
		for range 2 {
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		store.check(t, 10, -7)
		calls(t, g, 2)
		store.check(t, 1, 1)
		call := begin(t, g, t.Context())
		call.Refund("limit")
		call.End()
		store.check(t, 1, -1)
		if left := remaining(t, store, limit); left != 95 {
			t.Errorf("%d are left: want 95", left)
		}
	})
	if err := errors.Join((*ratelimit.Limiter)(nil).Close(t.Context()), new(ratelimit.Limiter).Close(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestCloseWaitsForCallsOnTheirWay(t *testing.T) {
	in(t, func(t *testing.T) {
		store, limit := memlimit.New(), window(100, time.Hour)
		l := newLimiter(t, faraway{store, 10 * time.Millisecond})
		g := l.Guard("m", stocked(limit, 10))
		go g.Allow(t.Context())
		time.Sleep(time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		err := l.Close(ctx)
		checkError(t, err, "ratelimit: unused units not given back: 0, of 0 buckets: calls are still on their way: context deadline exceeded")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not match the error of the context", err)
		}
		errs := make(chan error)
		for range 2 {
			go func() { errs <- l.Close(t.Context()) }()
		}
		if err := errors.Join(<-errs, <-errs); err != nil {
			t.Error(err)
		}
		if left := remaining(t, store, limit); left != 99 {
			t.Errorf("%d are left: want 99", left)
		}
	})
}

// A store that is asked in vain has not taken back anything: a second Close with more time is to find it all.
func TestCloseByAContextThatHasEndedLosesUnits(t *testing.T) {
	in(t, func(t *testing.T) {
		store, limit := newCounter(), window(100, time.Hour)
		refund := store.refund
		store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return refund(ctx, charges)
		}
		l := newLimiter(t, store)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		checkError(t, l.Close(ended), "") // nothing lies here
		l = newLimiter(t, store)
		calls(t, l.Guard("m", stocked(limit, 10)), 1)
		err := l.Close(ended)
		checkError(t, err, "ratelimit: unused units not given back: 9, of 1 buckets: context canceled")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v does not match the error of the context", err)
		}
		checkError(t, l.Close(t.Context()), "")
		if left := remaining(t, store, limit); left != 99 {
			t.Errorf("%d are left: want 99", left)
		}
	})
}

// What one Close is still giving back is not given back for another one either.
func TestCloseWaitsForWhatAnotherIsGivingBack(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		refund := store.refund
		store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
			time.Sleep(500 * time.Millisecond)
			return refund(ctx, charges)
		}
		l := newLimiter(t, store)
		calls(t, l.Guard("m", stocked(window(100, time.Hour), 10)), 1)
		first := make(chan error, 1)
		go func() { first <- l.Close(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := l.Close(ctx)
		checkError(t, err, "ratelimit: unused units not given back: 9, of 1 buckets: context deadline exceeded")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not match the error of the context", err)
		}
		store.check(t, 10)
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		store.check(t, -9)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// What hangs in the store on its way back is not given back yet.
func TestCloseDoesNotCountIdleUnitsOnTheirWay(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		store.refund = func(context.Context, []ratelimit.Charge) error {
			time.Sleep(time.Hour)
			return nil
		}
		l := newLimiter(t, store, new(errorsOf).option())
		g := l.Guard("m", stocked(window(100, time.Hour), 10))
		calls(t, g, 1)
		time.Sleep(1600 * time.Millisecond) // somebody has looked for what is idle
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		checkError(t, l.Close(ctx), "ratelimit: unused units not given back: 9, of 1 buckets: calls are still on their way: context deadline exceeded")
		time.Sleep(time.Hour) // what hangs ends
	})
}

// One refund that hangs in a store, whatever its context says, does not keep others from being given back. Many do, or each
// would leave something behind.
func TestIdleUnitsBehindARefundThatHangs(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		var hangs atomic.Bool
		var asked atomic.Int32
		store := newCounter()
		refund := store.refund
		store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
			asked.Add(1)
			if hangs.Load() {
				time.Sleep(time.Hour)
				return nil
			}
			return refund(ctx, charges)
		}
		l := newLimiter(t, store, told.option())
		g := l.Guard("m", stocked(window(1000, time.Hour), 10))
		hangs.Store(true)
		calls(t, g, 1)
		time.Sleep(3 * time.Second)
		told.check(t, ": ratelimit: unused units not given back: 9, of 1 buckets: context deadline exceeded")
		hangs.Store(false)
		store.check(t, 10)
		calls(t, g, 1)
		time.Sleep(3 * time.Second)
		store.check(t, 10, -9)
		hangs.Store(true)
		asked.Store(0)
		for range 30 {
			calls(t, g, 1)
			time.Sleep(3 * time.Second)
		}
		if n := asked.Load(); n != 15 { // beside the first
			t.Errorf("%d refunds hang: want 15", n)
		}
		time.Sleep(time.Hour) // what hangs ends
		hangs.Store(false)
	})
}

// A store that hangs, whatever the context says, does not keep a process from ending.
func TestCloseBehindAStoreThatDoesNotEndWithItsContext(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		store.refund = func(context.Context, []ratelimit.Charge) error {
			time.Sleep(time.Hour)
			return nil
		}
		r := stocked(window(100, time.Hour), 10)
		r.Key = "{n}"
		l := newLimiter(t, store)
		g := l.Guard("m", r)
		for i := range int64(40) {
			if err := g.Allow(t.Context(), ratelimit.Int(i)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := l.Close(ctx)
		checkError(t, err, "ratelimit: unused units not given back: 360, of 40 buckets: context deadline exceeded")
		if took := time.Since(start); took != 110*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("took %v: want 110ms, and the error of the context", took)
		}
		// With more time, each few buckets have a second.
		start = time.Now()
		const few = "ratelimit: unused units not given back: "
		checkError(t, l.Close(t.Context()), few+"144, of 16 buckets: context deadline exceeded\n"+few+"72, of 8 buckets: context deadline exceeded")
		if took := time.Since(start); took != 2020*time.Millisecond {
			t.Errorf("took %v: want 2.02s", took)
		}
		time.Sleep(time.Hour) // what hangs ends
	})
}

// A call that finds units while Close is on its way must not keep the rest from being given back.
func TestCloseWhileCallsGoOn(t *testing.T) {
	for range 20 {
		store, limit := memlimit.New(), window(10_000_000, time.Hour)
		l := newLimiter(t, store)
		g := l.Guard("m", stocked(limit, 1_000_000))
		var admitted atomic.Int64
		var stop atomic.Bool
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				for !stop.Load() {
					if g.Allow(t.Context()) == nil {
						admitted.Add(1)
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		if err := l.Close(t.Context()); err != nil || l.Piles() != 0 {
			t.Errorf("%d piles are left, error %v", l.Piles(), err)
		}
		stop.Store(true)
		callers.Wait()
		if used := limit.Count - remaining(t, store, limit); used != admitted.Load() {
			t.Fatalf("%d units are used after %d calls", used, admitted.Load())
		}
	}
}

func TestCloseBehindAStoreThatHangs(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		var hangs atomic.Bool
		refund := store.refund
		store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
			if hangs.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			return refund(ctx, charges)
		}
		r := stocked(window(100, time.Hour), 10)
		r.Key = "{n}"
		l := newLimiter(t, store, new(errorsOf).option())
		g := l.Guard("m", r)
		for i := range int64(200) {
			if err := g.Allow(t.Context(), ratelimit.Int(i)); err != nil {
				t.Fatal(err)
			}
		}
		hangs.Store(true)
		time.Sleep(1600 * time.Millisecond) // the first look for what is idle hangs
		began := time.Now()
		hangs.Store(false)
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("Close took %v: want what one refund may take", d)
		}
	})
}

func TestUnitsThatAreNotTakenBackAreTold(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := newCounter()
		store.refund = func(context.Context, []ratelimit.Charge) error { return errors.New("connection refused") }
		l := newLimiter(t, store, told.option())
		calls(t, l.Guard("m", stocked(window(100, time.Hour), 10)), 1)
		time.Sleep(5 * time.Second)
		told.check(t, ": ratelimit: unused units not given back: 9, of 1 buckets: connection refused")
		calls(t, l.Guard("m", stocked(window(100, time.Hour), 10)), 1)
		checkError(t, l.Close(t.Context()), "ratelimit: unused units not given back: 9, of 1 buckets: connection refused")
		checkError(t, l.Close(t.Context()), "")
	})
}

func TestRefundOfUnitsThatLayHere(t *testing.T) {
	tests := []struct {
		name   string
		limit  ratelimit.Limit
		before int // calls between the one that is refunded and its end
		pause  time.Duration
		lie    int64
		left   int64 // in the store
	}{
		{"at once", window(100, time.Minute), 0, 0, 5, 95},
		{"after others", window(100, time.Minute), 2, 0, 3, 95},
		{"more than may lie here", window(100, time.Minute), 5, 0, 5, 90},
		{"when all are given back", window(100, time.Minute), 0, 5 * time.Second, 0, 100},
		{"in the next window", window(100, time.Second), 0, time.Second, 0, 100},
		{"one that has come back by itself", ratelimit.Limit{Count: 100, Period: time.Second}, 0, 10 * time.Millisecond, 3, 96},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := newCounter()
				l := newLimiter(t, store)
				g := l.Guard("m", stocked(tt.limit, 5))
				call := begin(t, g, t.Context())
				calls(t, g, tt.before)
				time.Sleep(tt.pause)
				call.Refund("limit")
				call.End()
				lie, left := l.Stocked(ratelimit.Charge{Key: []byte("k"), Name: "limit", Limit: tt.limit}), remaining(t, store, tt.limit)
				if lie != tt.lie || left != tt.left {
					t.Errorf("%d units lie here and %d are left: want %d and %d", lie, left, tt.lie, tt.left)
				}
			})
		})
	}
}

// A unit of a window that ends while its successor is asked for is not one of that.
func TestRefundWhileTheNextWindowBegins(t *testing.T) {
	in(t, func(t *testing.T) {
		store, limit := memlimit.New(), window(10, time.Second)
		l := newLimiter(t, faraway{store, 10 * time.Millisecond})
		g := l.Guard("m", stocked(limit, 2))
		call := begin(t, g, t.Context()) // its window begins at 10ms
		calls(t, g, 1)
		time.Sleep(985 * time.Millisecond)
		go func() {
			time.Sleep(time.Millisecond)
			call.Refund("limit")
			call.End()
		}()
		calls(t, g, 1)
		if n := l.Stocked(ratelimit.Charge{Key: []byte("k"), Name: "limit", Limit: limit}); n != 1 {
			t.Errorf("%d units lie here: want 1", n)
		}
	})
}

// The keys of an attack must not fill the memory: calls beyond go to the store, for what they need.
func TestPilesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("150,000 buckets")
	}
	in(t, func(t *testing.T) { // or those of a slow machine are idle before there are many
		const most = 128 * 1024
		store := newCounter()
		r := stocked(window(100, time.Hour), 10)
		r.Key = "{n}"
		l := newLimiter(t, store)
		g := l.Guard("m", r)
		for i := range int64(most * 11 / 10) {
			if err := g.Allow(t.Context(), ratelimit.Int(i)); err != nil {
				t.Fatal(err)
			}
		}
		if n := l.Piles(); n > most || n < most*9/10 || !slices.Contains(store.asked, 1) {
			t.Errorf("%d piles are kept: want at most %d", n, most)
		}
		if err := l.Close(t.Context()); err != nil || l.Piles() != 0 {
			t.Errorf("%d piles are left, error %v", l.Piles(), err)
		}
	})
}
