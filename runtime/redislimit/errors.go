package redislimit

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Error says that Redis could not do what a method of a [Store] asked of it. It is never a refusal. It wraps what the
// client or the server said; a call for several keys of a Cluster or Ring may return several, joined.
type Error struct {
	Method string   // what was to be done: take, peek, refund, also of a take that does not end well, renew, reset or check
	Keys   []string // the keys in Redis; of a check their pattern
	Kind   Kind
	Err    error // the cause
}

// Error tells the method, the keys and the cause.
func (e *Error) Error() string {
	return fmt.Sprintf("redislimit: %s: %v", doing(e.Method, e.Keys), e.Err)
}

// doing names the first keys only: there may be thousands.
func doing(method string, keys []string) string {
	quoted := make([]string, min(len(keys), maxNamed))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%.200q", keys[i])
	}
	text := method + " " + strings.Join(quoted, ", ")
	if more := len(keys) - len(quoted); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxNamed is how many keys the text of an error names.
const maxNamed = 8

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is what all errors of [KindMisconfigured] match.
func (e *Error) Is(target error) bool {
	return e.Kind == KindMisconfigured && target == ratelimit.ErrMisconfigured
}

// Away reports whether the Kind is [KindOutage]: [OnOutage] has told it, so that [ratelimit.Log] need not.
func (e *Error) Away() bool { return e.Kind == KindOutage }

// ErrorType returns the Kind, which is what OpenTelemetry takes for the attribute error.type: unlike the text it has no key in it.
func (e *Error) ErrorType() string { return string(e.Kind) }

// Kind is a kind of [Error], in one word that will do as a label of a metric.
type Kind string

const (
	// KindTimeout is no answer in time: within [Timeout], the deadline of the caller, or a timeout of the client that is
	// shorter. The call may have been charged.
	KindTimeout Kind = "timeout"
	// KindCanceled is a caller whose context was canceled before the answer came. The call may have been charged.
	KindCanceled Kind = "canceled"
	// KindConnection is a server that cannot be reached, or a connection that broke, after which the call may have been
	// charged. It is also what a client says of itself, as that it is closed.
	KindConnection Kind = "connection"
	// KindOutage is a server that was not asked, as it is off the path of calls, see [OnOutage]. The error wraps what took
	// it off.
	KindOutage Kind = "outage"
	// KindOverload is a server that was not asked, as more calls of this process wait for it than it can answer in time.
	KindOverload Kind = "overload"
	// KindLoading is a server that still loads its data.
	KindLoading Kind = "loading"
	// KindReadOnly is a server that takes no writes: a replica, or one that lacks replicas or cannot save its data.
	KindReadOnly Kind = "readonly"
	// KindClusterDown is a slot, or a whole Cluster, that nobody serves for now, or a key that kept moving.
	KindClusterDown Kind = "clusterdown"
	// KindBusy is a server that runs somebody's script or function for longer than it should.
	KindBusy Kind = "busy"
	// KindMemory is a server that may not take up more memory.
	KindMemory Kind = "memory"
	// KindForbidden is a password that is missing or wrong, or a user who may not do what is asked.
	KindForbidden Kind = "forbidden"
	// KindForeign is a value under the key that is not the Store's: of another type, or one that the scripts cannot read.
	KindForeign Kind = "foreign"
	// KindClock is a server that does not tell its scripts the time, or a process whose clock cannot be right.
	KindClock Kind = "clock"
	// KindReply is a reply that is none of the scripts'.
	KindReply Kind = "reply"
	// KindServer is any other error that the server answers.
	KindServer Kind = "server"
	// KindMisconfigured is a Store without a client, or with one that does not fit the server: of a Cluster where there is
	// none, or one that does not know that it leads to a Cluster, see [New], so that keys of one call live apart. The error
	// matches [ratelimit.ErrMisconfigured].
	KindMisconfigured Kind = "misconfigured"
)

// ofServer reports whether such a failure is likely to be everybody's, and not a matter of one key, slot, caller or
// algorithm.
func (k Kind) ofServer() bool {
	switch k {
	case KindTimeout, KindConnection, KindLoading, KindReadOnly, KindBusy, KindMemory, KindClock:
		return true
	}
	return false
}

// kindsOfReplies are the codes of error replies that tell a kind.
var kindsOfReplies = map[string]Kind{
	"LOADING":     KindLoading,
	"READONLY":    KindReadOnly,
	"NOREPLICAS":  KindReadOnly,
	"MISCONF":     KindReadOnly,
	"CLUSTERDOWN": KindClusterDown,
	"MASTERDOWN":  KindClusterDown,
	"TRYAGAIN":    KindClusterDown,
	"MOVED":       KindClusterDown,
	"ASK":         KindClusterDown,
	"BUSY":        KindBusy,
	"OOM":         KindMemory,
	"NOAUTH":      KindForbidden,
	"WRONGPASS":   KindForbidden,
	"NOPERM":      KindForbidden,
	"WRONGTYPE":   KindForeign,
	"CROSSSLOT":   KindMisconfigured,
}

// textsOfReplies are what says it where there is no code.
var textsOfReplies = []struct {
	text string
	kind Kind
}{
	{"ratelimit: unreadable state", KindForeign},
	{"does not know the time", KindClock},
	{"The user executing the script can't", KindForbidden}, // Redis 7.0
	{"ACL failure in script", KindForbidden},               // Redis 7.2 on
	{"unauthenticated", KindForbidden},                     // to whatever is long
	{"cluster support disabled", KindMisconfigured},        // to a client of a Cluster
	{"max number of clients", KindConnection},              // is said to a connection that is then closed
}

// kindOf returns the kind of what a client returns.
func kindOf(err error) Kind {
	var (
		reply   redis.Error
		op      *net.OpError
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, redis.Nil):
		return KindReply
	case errors.As(err, &reply):
		return kindOfReply(reply.Error())
	case errors.As(err, &op) && op.Op == "dial":
		return KindConnection
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, redis.ErrPoolTimeout):
		return KindTimeout
	}
	return KindConnection
}

// kindOfReply returns the kind of an error reply. Its code is the first word, unless a proxy has put words of its own
// before it, or a server of before 7.0 those of the script that was refused: "ERR Error running script …: -READONLY …".
func kindOfReply(text string) Kind {
	for _, known := range textsOfReplies {
		if strings.Contains(text, known.text) {
			return known.kind
		}
	}
	for word := range strings.FieldsSeq(text) {
		if kind, ok := kindsOfReplies[strings.TrimPrefix(word, "-")]; ok {
			return kind
		}
	}
	return KindServer
}

// fault returns an Error whose method and keys are yet to be told.
func fault(kind Kind, err error) *Error { return &Error{Kind: kind, Err: err} }

// faultOf returns an Error of what a client returns, or of what is one already.
func faultOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return fault(kindOf(err), conceal(err))
}

// noAnswerError is that of a call whose budget is used up. It does not match [context.DeadlineExceeded], as the deadline
// was not the caller's.
type noAnswerError time.Duration

func (d noAnswerError) Error() string { return fmt.Sprintf("no answer within %v", time.Duration(d)) }

// Timeout is what errors of time have in Go.
func (noAnswerError) Timeout() bool { return true }
