package httplimit

import (
	"fmt"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Advice returns what [WriteError] tells a refused caller, for answers in other protocols: the directive's message or words
// of its own, in which there is neither a key nor the name of a method, and after how long to try again, which is above 0,
// or [ratelimit.Never] if no wait can help. Slots are free when calls end: nobody knows when that is, but rarely as late as
// their leases, and the advice is to try again in a second.
func Advice(e *ratelimit.LimitError) (text string, wait time.Duration) {
	wait = e.RetryAfter()
	switch {
	case wait == ratelimit.Never:
	case e.Limit.Algorithm == ratelimit.Concurrency || wait <= 0: // the latter is no error of the limiter's own making
		wait = time.Second
	}
	switch seconds := ceilSeconds(wait); {
	case e.Missing != "": // a message of the directive speaks of a limit that was reached, and would mislead
		return "The request does not identify its caller, and its limit is kept for each caller.", wait
	case e.Message != "":
		return e.Message, wait
	case wait == ratelimit.Never:
		return "The request asks for more than its limit can ever admit.", wait
	case seconds == 1:
		return "The request is over its limit. Try again in 1 second.", wait
	default:
		return fmt.Sprintf("The request is over its limit. Try again in %d seconds.", seconds), wait
	}
}
