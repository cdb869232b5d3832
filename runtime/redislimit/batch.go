package redislimit

import (
	"math/bits"
	"slices"
	"strconv"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// ask is a question to the take script: may calls of these charges go on? It is answered together with others, by one
// script that decides them one after the other.
type ask struct {
	keys    []string           // of the buckets, by charge
	charges []ratelimit.Charge // without their Key
	calls   int                // how many callers ask just that; 0 is one whom a limit on another server refuses

	// What readBatch sets.
	err      error         // of this ask alone
	admitted int           // how many of the calls go on: the first
	at       time.Duration // when it was decided, since 1970
	answers  []answer      // by charge, where the bucket stands after all calls

	one struct { // room for the common ask, which so is one allocation
		keys    [1]string
		charges [1]ratelimit.Charge
		answers [1]answer
	}
}

// answer is what the script says of a charge, see lua/take.lua.
type answer struct{ retry, remaining, reset, part int64 }

// newAsk returns the question of one caller.
func (s *Store) newAsk(charges []ratelimit.Charge) *ask {
	a := &ask{calls: 1}
	a.keys, a.charges = a.one.keys[:0], append(a.one.charges[:0], charges...)
	for i := range charges {
		a.keys = append(a.keys, s.key(&charges[i]))
		a.charges[i].Key = nil // the caller's
	}
	return a
}

// work returns for how long the ask holds up a server, in the time that a bucket takes. Each slot of a concurrency is an
// entry to be written, and removed again.
func (a *ask) work() (work int) {
	for i := range a.charges {
		work++
		if c := &a.charges[i]; c.Limit.Algorithm == ratelimit.Concurrency {
			work += slotWork * int(min(c.Cost, maxWork))
		}
	}
	return work
}

// mergeable reports whether calls of the same charges can be one ask: none of them is another's holder, or has a turn of
// its own to wait for.
func mergeable(charges []ratelimit.Charge) bool {
	return !slices.ContainsFunc(charges, func(c ratelimit.Charge) bool { return c.Holder != "" || c.Wait > 0 || c.Delay > 0 })
}

// sameKind reports whether two asks differ in nothing but their buckets and the number of their callers.
func sameKind(a, b *ask) bool {
	return slices.EqualFunc(a.charges, b.charges, func(c, d ratelimit.Charge) bool {
		return c.Limit == d.Limit && c.Cost == d.Cost && c.Wait == d.Wait && c.Delay == d.Delay && c.Holder == d.Holder && c.Taken == d.Taken
	})
}

// encodeBatch returns the arguments of the command that decides the asks, as lua/take.lua has them. It puts those of a
// kind together, in the order of their arrival,
// by which the asks change places: readBatch wants them as they are then.
func (s *Store) encodeBatch(asks []*ask) []any {
	keys, args := 0, 0
	kinds := make([]int, 0, 16) // how many asks there are of each; on the stack
	for from := 0; from < len(asks); {
		to := from + 1
		for i := to; i < len(asks); i++ {
			if a := asks[i]; sameKind(asks[from], a) {
				copy(asks[to+1:i+1], asks[to:i])
				asks[to] = a
				to++
			}
		}
		kinds = append(kinds, to-from)
		keys += (to - from) * len(asks[from].keys)
		args += 1 + len(asks[from].charges)
		from = to
	}
	batch := make([]any, 0, fixedArgs+keys+timeArgs+args)
	batch = append(batch, "evalsha", s.scripts.take.digest, keys)
	for _, a := range asks {
		for _, key := range a.keys {
			batch = append(batch, key)
		}
	}
	batch = append(batch, s.callTime())
	for _, n := range kinds {
		batch = append(batch, shape(asks[:n]))
		for i := range asks[0].charges {
			batch = append(batch, chargeText(&asks[0].charges[i]))
		}
		asks = asks[n:]
	}
	return batch
}

// shape returns what the script has to know of the asks of a kind besides their charges.
func shape(asks []*ask) string {
	text := strconv.AppendInt(nil, int64(len(asks[0].charges)), 10)
	text = append(text, ' ')
	text = strconv.AppendInt(text, int64(len(asks)), 10)
	if slices.ContainsFunc(asks, func(a *ask) bool { return a.calls != 1 }) {
		for _, a := range asks {
			text = append(text, ' ')
			text = strconv.AppendInt(text, int64(a.calls), 10)
		}
	}
	return string(text)
}

// readBatch reads the reply of take to the asks, and sets the answer or the error of each. Its own error is one of all.
func (s *Store) readBatch(reply any, asks []*ask) error {
	values, _ := reply.([]any)
	r := reader{values: values, several: len(asks) > 1}
	for _, a := range asks {
		r.ask(a)
		if s.now != nil {
			a.at = r.time()
		}
	}
	if s.now == nil {
		at := r.time()
		for _, a := range asks {
			a.at = at
		}
	}
	if r.broken || len(r.values) > 0 {
		return unexpected(reply, "the answers to %d asks", len(asks))
	}
	return nil
}

// reader reads a reply from front to back.
type reader struct {
	values  []any
	several bool // whether the answers are to several asks, of which one may be an error
	broken  bool // whether there was something that the script does not write
}

// replyError is an error that the server has for one of several asks. As an error reply among others it would be lost on
// go-redis, which takes some of them for the end of the whole.
type replyError string

func (e replyError) Error() string { return string(e) }

// RedisError is what errors of a server have.
func (replyError) RedisError() {}

// integer returns the next integer, which is one from lowest to highest.
func (r *reader) integer(lowest, highest int64) int64 {
	if len(r.values) == 0 {
		r.broken = true
		return lowest
	}
	n, ok := r.values[0].(int64)
	if !ok || n < lowest || n > highest {
		r.broken = true
		n = lowest
	}
	r.values = r.values[1:]
	return n
}

func (r *reader) time() time.Duration {
	return time.Duration(r.integer(1, maxTime-1)) * time.Microsecond
}

func (r *reader) answer(c *ratelimit.Charge) answer {
	return answer{
		retry:     r.integer(never-c.Wait.Microseconds(), maxWait),
		remaining: r.integer(0, maxWait),
		reset:     r.integer(0, maxWait),
	}
}

// ask reads what is said of an ask.
func (r *reader) ask(a *ask) {
	a.err, a.answers = nil, a.one.answers[:0]
	if len(r.values) > 0 && r.several {
		if text, ok := r.values[0].(string); ok {
			a.err, r.values = replyError(text), r.values[1:]
			return
		}
	}
	several := a.calls > 1
	if several {
		a.admitted = int(r.integer(0, int64(a.calls)))
	}
	refused := a.calls == 0
	for i := range a.charges {
		c := &a.charges[i]
		answer := r.answer(c)
		if several {
			answer.part = r.integer(0, maxWait)
			r.broken = r.broken || !answer.explains(c, a.admitted)
		}
		refused = refused || answer.refuses()
		a.answers = append(a.answers, answer)
	}
	switch {
	case several:
		r.broken = r.broken || refused != (a.admitted < a.calls)
	case refused:
		a.admitted = 0
	default:
		a.admitted = 1
	}
}

// refuses reports whether the limit refuses a call.
func (n *answer) refuses() bool { return n.retry > 0 || n.retry == never }

// explains reports whether the bucket can have been charged so many times.
func (n *answer) explains(c *ratelimit.Charge, times int) bool {
	if times == 0 || c.Cost == 0 {
		return true
	}
	used := c.Limit.Capacity() - n.remaining
	return used/c.Cost >= int64(times) && (n.part < c.Limit.Period.Microseconds() || !drains(c.Limit.Algorithm))
}

// charged reports whether something was written for the ask.
func (a *ask) charged() bool {
	return a.err == nil && a.admitted > 0 && slices.ContainsFunc(a.charges, costs)
}

// results sets what the i-th caller is told, from 0 in the order of arrival.
func (a *ask) results(i int, results []ratelimit.Result) {
	for j := range a.charges {
		c, n := &a.charges[j], a.answers[j]
		if a.calls > 1 && i < a.admitted {
			n = n.before(c, int64(a.admitted-1-i))
		}
		results[j] = n.result(c, a.at)
	}
}

// before returns what the answer was so many admitted calls before the last of them.
func (n answer) before(c *ratelimit.Charge, calls int64) answer {
	n.retry = 0
	if calls == 0 || c.Cost == 0 {
		return n
	}
	n.remaining += calls * c.Cost
	l := &c.Limit
	switch used, period := l.Capacity()-n.remaining, l.Period.Microseconds(); {
	case !drains(l.Algorithm): // until what was taken last has come back
	case l.Refill == ratelimit.Interval && l.Algorithm == ratelimit.TokenBucket:
		n.reset = divup(used, l.Count)*period - n.part
	default:
		whole, rest := muldiv(period, used, l.Count)
		n.reset = whole + divup(rest-n.part, l.Count)
	}
	return n
}

// drains reports whether units of a bucket come back one after the other, so that each that is taken has it take longer to
// be as new.
func drains(a ratelimit.Algorithm) bool {
	return a == ratelimit.TokenBucket || a == ratelimit.LeakyBucket
}

// result returns what the caller is told.
func (n *answer) result(c *ratelimit.Charge, at time.Duration) ratelimit.Result {
	r := ratelimit.Result{
		Limit:      c.Limit.Capacity(),
		Remaining:  n.remaining,
		ResetAfter: time.Duration(n.reset) * time.Microsecond,
		At:         at,
	}
	switch {
	case n.retry > 0:
		r.RetryAfter = time.Duration(n.retry) * time.Microsecond
	case n.retry == never:
		r.RetryAfter = ratelimit.Never
	case n.retry < never:
		r.Allowed, r.Delay = true, time.Duration(never-n.retry)*time.Microsecond
	default:
		r.Allowed = true
	}
	return r
}

// muldiv returns the quotient and the remainder of a * b / c. None is negative, c is positive, and the quotient fits.
func muldiv(a, b, c int64) (quotient, rest int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(hi, lo, uint64(c))
	return int64(q), int64(r)
}

// divup returns a / b, rounded up; b is positive.
func divup(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}
