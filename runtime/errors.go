package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLimited is what every refusal matches: errors.Is(err, ratelimit.ErrLimited). The error itself is a [*LimitError].
var ErrLimited = errors.New("rate limit exceeded")

// ErrMisconfigured is what the error of a [Store] matches if the call could not be decided even if all were well, so
// that [FailOpen] would leave it unlimited for ever: a store without a connection, say, or charges that it cannot keep
// together.
var ErrMisconfigured = errors.New("misconfigured")

// ErrLeaseLost is what the error of a [Store] matches when a holder is to give back slots that it no longer holds, and
// what [context.Cause] returns for the context of a call that has lost its slot, see [Call.Context].
var ErrLeaseLost = errors.New("lease lost")

// LimitError says that a call was refused. Generated code returns it in place of the call's own error; it matches
// [ErrLimited]. Several limits may have refused: Refused lists them all, and the other fields are of the one that
// asks for the longest wait.
type LimitError struct {
	Method  string    // e.g. "users.Service.Get"; empty if the refusal has no method
	Name    string    // name of the limit
	Key     string    // identity of the bucket, escaped; empty if Missing is set
	Limit   Limit     // the limit itself
	Result  Result    // the bucket's answer
	Status  int       // HTTP status for the refused caller, 429 unless the directive says otherwise
	Message string    // text for the refused caller; empty unless the directive has one
	Missing string    // what the key lacks, so that the call was refused: a caller attribute, e.g. "ip", or a part of the call
	Refused []Outcome // each limit that refused, in the order of the directives

	given bool // whether what is missing is a part of the call
}

// Error tells the method, the limit, and how long to wait.
func (e *LimitError) Error() string {
	where := ""
	if e.Method != "" {
		where = e.Method + ": "
	}
	switch {
	case e.given:
		return fmt.Sprintf("%s%v: limit %s goes by %s, which the call does not have", where, ErrLimited, e.Name, e.Missing)
	case e.Missing != "":
		return fmt.Sprintf("%s%v: limit %s goes by the caller's %q, which the context does not hold", where, ErrLimited, e.Name, e.Missing)
	case e.Result.RetryAfter == Never:
		return fmt.Sprintf("%s%v: limit %s can never admit this cost: its capacity is %d", where, ErrLimited, e.Name, e.Result.Limit)
	case e.Limit.Algorithm == Concurrency:
		return fmt.Sprintf("%s%v: limit %s has all slots taken: the next lease ends in %v", where, ErrLimited, e.Name, e.Result.RetryAfter)
	}
	return fmt.Sprintf("%s%v: limit %s admits the call in %v", where, ErrLimited, e.Name, e.Result.RetryAfter)
}

// Is reports whether target is [ErrLimited].
func (e *LimitError) Is(target error) bool { return target == ErrLimited }

// RetryAfter returns the least wait after which the same call would be admitted if nobody else called meanwhile, or
// [Never]. It is the longest of all limits that refused. Of [Concurrency] it is when enough leases would end if none was
// renewed: slots are free earlier if calls end, and later if they last.
func (e *LimitError) RetryAfter() time.Duration { return e.Result.RetryAfter }

// DecisionError says that the limiter could not decide on a call, which is no refusal: it does not match [ErrLimited].
// It wraps the store's error, or the context's if the call ended first. It matches [context.Canceled] or
// [context.DeadlineExceeded] only if the call's own context has ended so: a timeout of the store's own is a fault of the
// store, and the caller has time left. Observers are told the store's error as it is.
type DecisionError struct {
	Method string // e.g. "users.Service.Get"; empty if the decision has no method
	Err    error
}

// Error tells the method and the cause.
func (e *DecisionError) Error() string {
	if e.Method == "" {
		return fmt.Sprintf("rate limit undecided: %v", e.Err)
	}
	return fmt.Sprintf("%s: rate limit undecided: %v", e.Method, e.Err)
}

// Unwrap returns the cause.
func (e *DecisionError) Unwrap() error { return e.Err }

// concealed is a store's error that would match that of a context, though the caller's has not ended so. It is used by its
// address, which can be compared whatever the store's error is made of.
type concealed struct {
	error
	ended error // that of the caller's, nil as long as it goes on
}

// conceal returns what the caller of a call, whose context has ended like that or not at all, is told of a store's error.
func conceal(err, ended error) error {
	for _, target := range [...]error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, target) && !errors.Is(ended, target) {
			return &concealed{err, ended}
		}
	}
	return err
}

// Is conceals what the errors of contexts match, the caller's excepted.
func (c *concealed) Is(target error) bool {
	if target == context.Canceled || target == context.DeadlineExceeded {
		return target == c.ended
	}
	return errors.Is(c.error, target)
}

// As conceals nothing.
func (c *concealed) As(target any) bool { return errors.As(c.error, target) }
