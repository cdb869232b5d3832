package httplimit_test

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

func TestAdvice(t *testing.T) {
	after := func(wait time.Duration) ratelimit.LimitError {
		return ratelimit.LimitError{Method: "m.S.Get", Name: "1s", Key: "secret", Result: ratelimit.Result{RetryAfter: wait}}
	}
	with := func(e ratelimit.LimitError, f func(*ratelimit.LimitError)) ratelimit.LimitError {
		f(&e)
		return e
	}
	slots := func(e *ratelimit.LimitError) { e.Limit.Algorithm = ratelimit.Concurrency }
	for _, c := range []struct {
		name string
		err  ratelimit.LimitError
		text string
		wait time.Duration
	}{
		{"exact wait, whole seconds in words", after(1200 * time.Millisecond), "The request is over its limit. Try again in 2 seconds.", 1200 * time.Millisecond},
		{"one second", after(time.Microsecond), "The request is over its limit. Try again in 1 second.", time.Microsecond},
		{"no wait is known", after(0), "The request is over its limit. Try again in 1 second.", time.Second},
		{"never", after(ratelimit.Never), "The request asks for more than its limit can ever admit.", ratelimit.Never},
		{"slots", with(after(30*time.Second), slots), "The request is over its limit. Try again in 1 second.", time.Second},
		{"more slots than there are", with(after(ratelimit.Never), slots), "The request asks for more than its limit can ever admit.", ratelimit.Never},
		{"message", with(after(time.Minute), func(e *ratelimit.LimitError) { e.Message = "Slow down." }), "Slow down.", time.Minute},
		{
			"nobody", with(after(ratelimit.Never), func(e *ratelimit.LimitError) { e.Message, e.Missing = "Slow down.", "user" }),
			"The request does not identify its caller, and its limit is kept for each caller.", ratelimit.Never,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if text, wait := httplimit.Advice(&c.err); text != c.text || wait != c.wait {
				t.Errorf("got %q, %v, want %q, %v", text, wait, c.text, c.wait)
			}
		})
	}
}
