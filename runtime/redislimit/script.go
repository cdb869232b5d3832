package redislimit

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/lua"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// script is a script and the digest by which a server that has it knows it.
type script struct {
	text, digest string
}

func newScript(text string) *script {
	digest := sha1.Sum([]byte(text)) // what EVALSHA goes by; not a matter of security
	return &script{text: text, digest: hex.EncodeToString(digest[:])}
}

type scripts struct {
	take, peek, refund, renew *script
}

var standard = scripts{
	take:   newScript(lua.Take),
	peek:   newScript(lua.Peek),
	refund: newScript(lua.Refund),
	renew:  newScript(lua.Renew),
}

const (
	fixedArgs   = 3 // the command, the script, the number of keys
	chargeArgs  = 7 // see lua/bucket.lua
	furtherArgs = 2 // refusedElsewhere and the time, see there
)

// refusedElsewhere makes take look at the charges as those of a call that another limit refuses.
const refusedElsewhere = "refused"

// run runs a script on the charges, with further arguments after theirs, and returns its reply.
func (s *Store) run(ctx context.Context, sc *script, charges []ratelimit.Charge, further ...any) (any, error) {
	if err := s.sender.ready(); err != nil {
		return nil, err
	}
	args := make([]any, 0, fixedArgs+len(charges)*(1+chargeArgs)+furtherArgs)
	args = append(args, "evalsha", sc.digest, len(charges))
	for i := range charges {
		args = append(args, s.key(&charges[i]))
	}
	for i := range charges {
		c := &charges[i]
		l := &c.Limit
		args = append(args, code(l.Algorithm), l.Count, l.Period.Microseconds(), l.Capacity(), int(l.Refill), c.Cost, extra(c))
	}
	args = s.withTime(append(args, further...), len(further))

	n, writes := len(charges), sc == s.scripts.take && len(further) == 0 && slices.ContainsFunc(charges, costs)
	return s.sender.send(ctx, s.key(&charges[0]), func(ctx context.Context) (any, error) {
		reply, err := s.sender.eval(ctx, sc, args)
		if err == nil && writes && admits(reply, n) {
			return charged{reply}, nil
		}
		return reply, err
	})
}

func costs(c ratelimit.Charge) bool { return c.Cost > 0 }

// extra returns the argument that is of another kind for each algorithm.
func extra(c *ratelimit.Charge) any {
	switch c.Limit.Algorithm {
	case ratelimit.TokenBucket, ratelimit.LeakyBucket:
		if c.Delay > 0 {
			return fmt.Sprintf("%d %d", c.Wait.Microseconds(), c.Delay.Microseconds())
		}
		return c.Wait.Microseconds()
	case ratelimit.Concurrency:
		return c.Holder
	}
	if taken := c.Taken.Microseconds(); taken > 0 {
		return taken
	}
	return ""
}

// isNoScript reports whether a server says that it does not know the script, and so has not run it. Some proxies put
// words of their own in front of the code.
func isNoScript(err error) bool {
	return isReply(err) && strings.Contains(err.Error(), "NOSCRIPT")
}

// isReply reports whether an error is what a server answered.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

const (
	answerInts = 3  // of one charge in the reply of a decision: retry, remaining, reset
	never      = -1 // as retry; below it -1 - the delay of an allowed call
	// maxWait is above any wait: a valid limit takes 130 years at most, and more only if a clock was set back by decades,
	// which a leaky bucket waits for. It fits into a Duration.
	maxWait = 1 << 53 // microseconds
	// maxTime is above any time that the scripts know, see lua/arithmetic.lua. It fits into a Duration.
	maxTime = 1 << 53 // microseconds since 1970
)

// readResults reads the reply of the scripts that decide. It leaves no result that was not in the reply.
func readResults(reply any, charges []ratelimit.Charge, results []ratelimit.Result) error {
	values, ok := reply.([]any)
	answers := answerInts * len(charges)
	if !ok || len(values) != answers+1 {
		return unexpected(reply, "%d integers", answers+1)
	}
	at, ok := values[answers].(int64)
	if !ok || at <= 0 || at >= maxTime {
		return unexpected(reply, "the time at the end")
	}
	for i := range charges {
		c := &charges[i]
		lowest := [answerInts]int64{never - c.Wait.Microseconds(), 0, 0}
		var answer [answerInts]int64
		for j := range answer {
			n, ok := values[i*answerInts+j].(int64)
			if !ok || n < lowest[j] || n > maxWait {
				return unexpected(reply, "integers of a decision")
			}
			answer[j] = n
		}
		r := ratelimit.Result{
			Limit:      c.Limit.Capacity(),
			Remaining:  answer[1],
			ResetAfter: time.Duration(answer[2]) * time.Microsecond,
			At:         time.Duration(at) * time.Microsecond,
		}
		switch retry := answer[0]; {
		case retry > 0:
			r.RetryAfter = time.Duration(retry) * time.Microsecond
		case retry == never:
			r.RetryAfter = ratelimit.Never
		case retry < never:
			r.Allowed, r.Delay = true, time.Duration(never-retry)*time.Microsecond
		default:
			r.Allowed = true
		}
		results[i] = r
	}
	return nil
}

// admits reports whether the reply of take says that so many charges were made.
func admits(reply any, charges int) bool {
	values, ok := reply.([]any)
	if !ok || len(values) != answerInts*charges+1 {
		return false
	}
	for i := range charges {
		if retry, ok := values[i*answerInts].(int64); !ok || retry > 0 || retry == never {
			return false
		}
	}
	return true
}

// unexpected returns the error of a reply that is none of the scripts'.
func unexpected(reply any, want string, args ...any) error {
	return fault(KindReply, fmt.Errorf("unexpected reply %.100q: want %s", fmt.Sprint(reply), fmt.Sprintf(want, args...)))
}

// readLost reads the reply of refund and returns whether a holder has lost its lease.
func readLost(reply any, charges []ratelimit.Charge) error {
	switch n, ok := reply.(int64); {
	case !ok || n < 0 || n > int64(len(charges)):
		return unexpected(reply, "how many leases were lost")
	case n > 0:
		return ratelimit.ErrLeaseLost
	}
	return nil
}

// readHeld reads the reply of renew. It leaves no answer that was not in the reply.
func readHeld(reply any, held []bool) error {
	values, ok := reply.([]any)
	if !ok || len(values) != len(held) {
		return unexpected(reply, "%d integers", len(held))
	}
	for i, value := range values {
		n, ok := value.(int64)
		if !ok || n != 0 && n != 1 {
			return unexpected(reply, "0 or 1 a lease")
		}
		held[i] = n == 1
	}
	return nil
}
