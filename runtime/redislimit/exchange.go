package redislimit

import (
	"context"
	"runtime"
	"slices"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// gather asks for a call whether it may go on, together with others that come at the same time. It returns when that was
// answered.
func (s *Store) gather(ctx context.Context, came time.Duration, charges []ratelimit.Charge, results []ratelimit.Result) (answered time.Duration, err error) {
	if err := s.sender.ready(); err != nil {
		return 0, err
	}
	for spent := false; ; spent = true {
		answered, err := s.gatherOnce(ctx, arrival{came, spent}, charges, results)
		if err == nil || !s.sender.mayTryAgain(ctx, err, came) {
			return answered, err
		}
	}
}

// arrival is when a call came, by the sender's clock, and whether some of its time may be spent.
type arrival struct {
	at    time.Duration
	spent bool
}

func (s *Store) gatherOnce(ctx context.Context, came arrival, charges []ratelimit.Charge, results []ratelimit.Result) (answered time.Duration, err error) {
	srv := s.sender.only
	if s.sender.sharded() {
		came.spent = came.spent || !s.sender.routed.Load() // it may take long to ask for the server
		if srv, err = s.sender.serverOf(ctx, s.key(&charges[0])); err != nil {
			return 0, err
		}
	}
	if srv.offPath.Load() {
		return s.probe(ctx, came, srv, charges, results)
	}
	st, departs, err := srv.board(ctx, s, came.at, charges)
	if err != nil {
		return 0, err
	}
	if departs != nil {
		go s.work(srv, departs)
	}
	if st.batch != nil {
		s.watch(srv, farAway)
		return s.await(ctx, came, srv, st, results)
	}
	st = s.lone(ctx, came, charges)
	if srv.beyondDoubt() && s.sender.bounded(ctx) {
		if next := s.fly(srv, st.batch); next != nil {
			go s.work(srv, next)
		}
		return st.outcome(results)
	}
	st.batch.flight.landed = make(chan struct{})
	go s.work(srv, st.batch)
	return s.await(ctx, came, srv, st, results)
}

// probe asks by itself, if the server is not to be left alone: it may be off the path of calls.
func (s *Store) probe(ctx context.Context, came arrival, srv *server, charges []ratelimit.Charge, results []ratelimit.Result) (answered time.Duration, err error) {
	verdict, err := srv.allow()
	if err != nil {
		return 0, err
	}
	st := s.lone(ctx, came, charges)
	st.batch.flight.verdict = verdict
	st.batch.landed = true // it has no place that another could have after it
	st.batch.flight.landed = make(chan struct{})
	go s.exchange(srv, st.batch)
	return s.await(ctx, came, srv, st, results)
}

// lone returns the seat of a call that has a batch of its own.
func (s *Store) lone(ctx context.Context, came arrival, charges []ratelimit.Charge) seat {
	b, a := &batch{ctx: ctx}, s.newAsk(charges)
	a.calls, b.asks, b.departed = 0, []*ask{a}, true
	return b.add(a, came.at)
}

// await waits for the answer to a call, for no longer than that may take.
func (s *Store) await(ctx context.Context, came arrival, srv *server, st seat, results []ratelimit.Result) (answered time.Duration, err error) {
	b := st.batch
	var late *Error
	if !came.spent && b.awake != nil { // others are overdue before the alarm
		select {
		case <-b.awake:
		case <-ctx.Done():
			late = ended(ctx)
		}
	}
	if late == nil && !b.flight.hasLanded() {
		late = s.awaitLonger(ctx, came, b)
	}
	if late == nil || b.flight.hasLanded() { // at the last moment
		return st.outcome(results)
	}
	if begun := srv.leave(st); begun && b.flight.overdue() {
		b.flight.lapse() // now, for the next call to know
	}
	return 0, late
}

// awaitLonger waits with a timer of the call's own, and listens for the end of its context.
func (s *Store) awaitLonger(ctx context.Context, came arrival, b *batch) *Error {
	var overdue <-chan time.Time
	if s.sender.timeout > 0 {
		timer := time.NewTimer(s.sender.timeout - (s.sender.now() - came.at))
		defer timer.Stop()
		overdue = timer.C
	}
	select {
	case <-b.flight.landed:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	case <-overdue:
		return fault(KindTimeout, noAnswerError(s.sender.timeout))
	}
}

// outcome returns what has come of a call.
func (st seat) outcome(results []ratelimit.Result) (answered time.Duration, err error) {
	f := &st.batch.flight
	switch {
	case f.panicked != nil: // a hook of the client, whose owner recovers it where the call is
		panic(f.panicked)
	case st.ask.err != nil:
		return 0, st.ask.err
	case f.err != nil:
		return 0, f.err
	}
	st.ask.results(st.place(), results)
	return f.answered, nil
}

// work flies a batch, and others after it while calls wait.
func (s *Store) work(srv *server, b *batch) {
	for b != nil {
		b = s.fly(srv, b)
	}
}

// fly flies a batch and returns the one that is to depart next.
func (s *Store) fly(srv *server, b *batch) (next *batch) {
	exited := true
	defer func() {
		next = srv.land(b, &s.sender)
		if exited && next != nil { // by a hook of the client
			go s.work(srv, next)
		}
	}()
	s.exchange(srv, b)
	if exited = false; b.flight.landed != nil {
		runtime.Gosched() // callers who have their answers may come again at once, and had better be in the next batch
	}
	return nil
}

// release has the next batch depart in the place of one that is overdue.
func (s *Store) release(srv *server, b *batch) {
	if next := srv.land(b, &s.sender); next != nil {
		go s.work(srv, next)
	}
}

// watch sees after some time whether batches are to depart, as none has for long. From a server that is near others have landed by then, and so taken them
// along.
func (s *Store) watch(srv *server, after time.Duration) {
	if srv.watched.Load() || srv.watched.Swap(true) {
		return
	}
	time.AfterFunc(after, func() {
		srv.watched.Store(false)
		departs, again := srv.overdue(&s.sender)
		if again > 0 {
			s.watch(srv, again)
		}
		for _, b := range departs {
			go s.work(srv, b)
		}
	})
}

// exchange has the server decide a batch.
func (s *Store) exchange(srv *server, b *batch) {
	defer b.arrive()
	f := &b.flight
	f.breaker, f.budget, f.began = srv.breaker, s.sender.timeout, srv.now()
	if f.landed != nil {
		f.lapsed = func() { s.release(srv, b) }
	}
	if f.verdict == nil {
		var err error
		if f.verdict, err = srv.allow(); err != nil {
			f.fail(err)
			return
		}
	}
	ctx, cancel := s.contextOf(b)
	defer cancel()
	if !srv.begin(b, cancel) {
		f.judge(errNeither)
		f.fail(errNoReply)
		return
	}
	b.asks = slices.DeleteFunc(b.asks, func(a *ask) bool { return a.calls == 0 })
	f.run(ctx, func(ctx context.Context) (any, error) { return b.asks, s.askAll(ctx, srv, b.asks) })
}

// nested marks the context of an exchange. A call that a hook of the client makes meanwhile, or what it connects by, would
// wait for the exchange, which waits for it.
type nested struct{}

func isNested(ctx context.Context) bool { return ctx.Value(nested{}) != nil }

// contextOf returns the context of a batch's exchange: that of its caller, or, if there are several, one that none of them
// ends for the others.
func (s *Store) contextOf(b *batch) (context.Context, context.CancelFunc) {
	ctx := context.WithValue(b.ctx, nested{}, true)
	if b.calls > 1 {
		ctx = context.WithoutCancel(ctx)
	}
	if s.sender.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return s.sender.budget(ctx)
}
