package ratelimit

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Free is the [Rule.Cost] of a call that takes nothing: it is never refused and only sees where the limit stands.
const Free int64 = -1

// Empty says what becomes of a call when a part that a limit goes by is missing or empty: an attribute that the context
// does not hold, or a part that the call does not have. The zero value is [EmptyDeny].
type Empty uint8

const (
	// EmptyDeny refuses the call, so that a caller who cannot be told apart is not left unlimited.
	EmptyDeny Empty = iota
	// EmptyShare counts all such calls in one bucket.
	EmptyShare
	// EmptyAllow lets the call pass this limit uncounted.
	EmptyAllow
)

// Rule is one limit of a method: which bucket a call belongs to, what it takes, and what a refused caller is told. Its
// zero value is not a rule: Key and Limit are required. Rules are copied by [Limiter.Guard].
type Rule struct {
	// Key is the bucket's identity, in the notation of the directive: literal text in which {@name} stands for the
	// caller attribute of that name, {text} for a part that each call gives, and {{ and }} for braces. Parts are told apart
	// by their text and come in the order in which the rules of a method name them first. Rules with equal keys, names and
	// algorithms share buckets.
	Key     string
	Name    string // names the limit among the method's, and to the caller; empty: the period, e.g. "1s"
	Limit   Limit
	Cost    int64         // units that a call takes; 0 means 1, see [Free]; of Concurrency slots, 1000 at most
	CostArg bool          // each call says what it takes by [Cost]; the field Cost is not used
	Wait    time.Duration // the longest that a call waits for its turn before it is refused, beside what the store takes; 0: not at all
	Mode    Mode          // whether the limit holds
	Fail    Failure       // what becomes of a call when the store cannot answer; empty: what [OnFailure] says
	OnEmpty Empty         // what to do when a part of Key is missing or empty
	// Prefetch has that many units taken from the store at once, which then serve calls in this process without asking it;
	// 0: each call asks for its own. It is at least 2 and Cost, and at most Count and Burst, for a [TokenBucket], a [LeakyBucket] or a
	// [FixedWindow], without a Wait. There are never more admitted than the Limit says, but a call may be refused for want of
	// units that lie unused in other processes, up to Prefetch - 1 in each. What no call goes by for a second is given back,
	// and the rest by [Limiter.Close]. Units that come back to their bucket one by one do so here, too: those that nobody uses
	// in time are of no use to anyone. See [Instances], by which they last longer if no call gives units of the bucket back.
	//
	// A call that finds too few asks the store, or waits for what another call has asked for, if that is enough for all who
	// wait. It waits for two answers of the store at most, each as long as a decision may take, or for four where its bucket is
	// overridden, see [Override]: if it would be refused while units lie here that were taken by another limit of the bucket, it
	// gives these back and asks once more. It is for stores that are far away, or many processes of few callers each: a Store
	// that gathers calls serves many at once as well without it.
	//
	// Results tell what the bucket would have if what lies here had not been taken. What others have done since the store was
	// asked last is not in them.
	Prefetch int64
	// Refunds says that units may come back to the buckets of the limit before their time: that calls give them back by
	// [Call.Refund], or that those of another method do that has the same buckets, or give up waiting, or take them in advance
	// by a Prefetch. A Store then remembers none of its refusals. It is implied by a Prefetch, for all limits of a method of
	// which one has a Wait, and of one without a [Concurrency] limit that is asked by [Guard.Begin].
	Refunds bool
	Status  int    // HTTP status of a refusal, 400 to 999; 0 means 429
	Message string // text for a refused caller
}

// rule is a Rule made ready for calls.
type rule struct {
	Rule
	charge Charge // of a call, but for what varies
	parts  []part // of the key, none if nothing about it varies: then it is that of charge
	byIP   bool   // whether the parts are a text and then the IP, as ip=true has it
	leased bool   // whether a call holds slots
	ahead  bool   // whether a call that waits has its bucket charged in advance
}

// compile makes a rule ready. It appends the texts of the parts that its key wants of each call and that are not in
// wanted yet.
func compile(r Rule, wanted *[]string) (rule, error) {
	parts, err := parseKey(r.Key, wanted)
	if err != nil {
		return rule{}, err
	}
	if err := r.Limit.Validate(); err != nil {
		return rule{}, err
	}
	switch {
	case r.Cost < Free:
		return rule{}, fmt.Errorf("ratelimit: Rule.Cost is %d: want at least 1, 0 for 1, or Free", r.Cost)
	case r.Wait < 0 || r.Wait > maxPeriod || r.Wait%time.Microsecond != 0:
		return rule{}, fmt.Errorf("ratelimit: Rule.Wait is %v: want at most %v, in whole microseconds", r.Wait, maxPeriod)
	case strings.ContainsFunc(r.Name, func(c rune) bool { return !inName(c) }):
		return rule{}, fmt.Errorf("ratelimit: Rule.Name is %q: want letters, digits, '_', '-' and '.'", r.Name)
	case r.Limit.tooManySlots(r.Cost):
		return rule{}, fmt.Errorf("ratelimit: Rule.Cost is %d: want at most %d slots a call", r.Cost, maxSlots)
	case r.Mode > ModeOff:
		return rule{}, fmt.Errorf("ratelimit: Rule.Mode is %d: want ModeEnforce, ModeShadow or ModeOff", r.Mode)
	case r.Fail != "" && !r.Fail.valid():
		return rule{}, fmt.Errorf("ratelimit: Rule.Fail is %q: want FailLocal, FailOpen or FailClosed, or nothing", string(r.Fail))
	case r.OnEmpty > EmptyAllow:
		return rule{}, fmt.Errorf("ratelimit: Rule.OnEmpty is %d: want EmptyDeny, EmptyShare or EmptyAllow", r.OnEmpty)
	case r.Status != 0 && (r.Status < 400 || r.Status > 999):
		return rule{}, fmt.Errorf("ratelimit: Rule.Status is %d: want 400 to 999, or 0 for 429", r.Status)
	}
	if err := r.checkPrefetch(); err != nil {
		return rule{}, err
	}
	switch r.Cost {
	case 0:
		r.Cost = 1
	case Free:
		r.Cost = 0
	}
	if r.Name == "" {
		r.Name = periodName(r.Limit.Period)
	}
	if r.Status == 0 {
		r.Status = http.StatusTooManyRequests
	}
	compiled := rule{Rule: r, parts: parts, leased: r.Limit.Algorithm == Concurrency}
	compiled.charge = Charge{Name: r.Name, Limit: r.Limit, Cost: r.Cost, Fresh: r.isFresh(), prefetch: r.Prefetch}
	compiled.byIP = len(parts) == 2 && parts[0].kind == literalPart && parts[1].kind == ipPart
	if len(parts) == 1 && parts[0].kind == literalPart {
		compiled.charge.Key, compiled.parts = slices.Clip([]byte(parts[0].literal)), nil
	}
	if r.Wait > 0 && algorithms[r.Limit.Algorithm].burst {
		compiled.ahead, compiled.charge.Wait = true, r.Wait
		if err := r.Limit.checkWait("Rule.Wait", r.Wait); err != nil {
			return rule{}, err
		}
	}
	return compiled, nil
}

// isFresh reports whether the store is to be asked itself: units that others give back, or have taken in advance, may come back
// early, and what looks on is there to be measured.
func (r *Rule) isFresh() bool { return r.Refunds || r.Prefetch > 0 || r.Mode == ModeShadow }

// checkPrefetch returns an error unless units of the limit may lie in this process.
func (r *Rule) checkPrefetch() error {
	most, name := r.Limit.Count, "count"
	if capacity := r.Limit.Capacity(); capacity < most {
		most, name = capacity, "burst"
	}
	switch {
	case r.Prefetch == 0:
		return nil
	case r.Prefetch < 2 || r.Prefetch > most:
		return fmt.Errorf("ratelimit: Rule.Prefetch is %d: want 2 to the %s, %d, or 0", r.Prefetch, name, most)
	case !r.CostArg && r.Cost > r.Prefetch:
		return fmt.Errorf("ratelimit: Rule.Prefetch is %d: want at least Rule.Cost, %d, which a call takes at once anyway", r.Prefetch, r.Cost)
	case !algorithms[r.Limit.Algorithm].burst && r.Limit.Algorithm != FixedWindow:
		return fmt.Errorf("ratelimit: Rule.Prefetch is %d: want none with %v, but %v, %v or %v",
			r.Prefetch, r.Limit.Algorithm, TokenBucket, LeakyBucket, FixedWindow)
	case r.Wait > 0:
		return fmt.Errorf("ratelimit: Rule.Prefetch is %d: want none with a Wait, since units that lie here know of no turns", r.Prefetch)
	}
	return nil
}

// inName reports whether c may stand in a limit's name, which must be fit for a store's key and for a response header.
func inName(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}
