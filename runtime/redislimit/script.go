package redislimit

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

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
	fixedArgs = 3 // the command, the script, the number of keys
	timeArgs  = 1 // see lua/bucket.lua
)

// run runs a script on the charges and returns its reply.
func (s *Store) run(ctx context.Context, sc *script, charges []ratelimit.Charge) (any, error) {
	if err := s.sender.ready(); err != nil {
		return nil, err
	}
	args := make([]any, 0, fixedArgs+timeArgs+2*len(charges))
	args = append(args, "evalsha", sc.digest, len(charges))
	for i := range charges {
		args = append(args, s.key(&charges[i]))
	}
	args = append(args, s.callTime())
	for i := range charges {
		args = append(args, chargeText(&charges[i]))
	}
	return s.send(ctx, sc, args)
}

// ask asks one question by itself. The Store must be ready.
func (s *Store) ask(ctx context.Context, a *ask) error {
	asks := []*ask{a}
	reply, err := s.send(ctx, s.scripts.take, s.encodeBatch(asks))
	if err == nil {
		err = cmp.Or(s.readBatch(reply, asks), a.err)
	}
	return err
}

// send runs a script with arguments of which the first is a key. The Store must be ready.
func (s *Store) send(ctx context.Context, sc *script, args []any) (any, error) {
	return s.sender.send(ctx, args[fixedArgs].(string), func(ctx context.Context) (any, error) {
		for began := s.sender.now(); ; {
			reply, err := eval(ctx, s.sender.client, sc, args)
			if err == nil || !s.sender.mayTryAgain(ctx, err, began) {
				return reply, err
			}
		}
	})
}

func costs(c ratelimit.Charge) bool { return c.Cost > 0 }

// chargeText returns a charge as the scripts read it, see lua/bucket.lua.
func chargeText(c *ratelimit.Charge) string {
	var array [128]byte
	l := &c.Limit
	text := append(array[:0], code(l.Algorithm)...)
	for _, n := range [...]int64{l.Count, l.Period.Microseconds(), l.Capacity(), int64(l.Refill), c.Cost} {
		text = append(text, ' ')
		text = strconv.AppendInt(text, n, 10)
	}
	text = append(text, ' ')
	return string(appendExtra(text, c))
}

// appendExtra appends what is of another kind for each algorithm.
func appendExtra(text []byte, c *ratelimit.Charge) []byte {
	switch c.Limit.Algorithm {
	case ratelimit.TokenBucket, ratelimit.LeakyBucket:
		text = strconv.AppendInt(text, c.Wait.Microseconds(), 10)
		if c.Delay > 0 {
			text = append(text, ' ')
			text = strconv.AppendInt(text, c.Delay.Microseconds(), 10)
		}
	case ratelimit.Concurrency:
		text = append(text, c.Holder...)
	default:
		if taken := c.Taken.Microseconds(); taken > 0 {
			text = strconv.AppendInt(text, taken, 10)
		}
	}
	return text
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
	never = -1 // as retry; below it -1 - the delay of an allowed call
	// maxWait is above any wait: a valid limit takes 130 years at most, and more only if a clock was set back by decades,
	// which a leaky bucket waits for. It fits into a Duration.
	maxWait = 1 << 53 // microseconds
	// maxTime is above any time that the scripts know, see lua/arithmetic.lua. It fits into a Duration.
	maxTime = 1 << 53 // microseconds since 1970
)

// readResults reads the reply of peek. It leaves no result that was not in the reply.
func readResults(reply any, charges []ratelimit.Charge, results []ratelimit.Result) error {
	values, _ := reply.([]any)
	r := reader{values: values}
	answers := make([]answer, len(charges))
	for i := range charges {
		answers[i] = r.answer(&charges[i])
	}
	at := r.time()
	if r.broken || len(r.values) > 0 {
		return unexpected(reply, "%d integers of decisions and the time", 3*len(charges))
	}
	for i := range charges {
		results[i] = answers[i].result(&charges[i], at)
	}
	return nil
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
