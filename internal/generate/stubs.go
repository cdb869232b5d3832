package generate

// Stubs are what generated files use of the packages that every one of them may import, for [parse.Package.Verify]: the
// user's package need not depend on any of them yet. Parameters of the runtime whose types are of other packages still,
// such as [fmt.Stringer], have the type literals here.
var Stubs = map[string]string{
	runtimePath: `package ratelimit

import (
	"context"
	"time"
)

const GeneratedV1 = true

type Limiter struct{}

func (*Limiter) Guard(method string, rules ...Rule) *Guard

type Guard struct{}

func (*Guard) Allow(ctx context.Context, call ...Arg) error
func (*Guard) Begin(ctx context.Context, call ...Arg) (*Call, error)

type Call struct{}

func (*Call) Context() context.Context
func (*Call) Refund(limit string)
func (*Call) End()

type Rule struct {
	Key      string
	Name     string
	Limit    Limit
	Cost     int64
	CostArg  bool
	Wait     time.Duration
	Mode     Mode
	Fail     Failure
	OnEmpty  Empty
	Prefetch int64
	Refunds  bool
	Status   int
	Message  string
}

const Free int64 = -1

type Mode uint8

const (
	ModeShadow Mode = 1
	ModeOff    Mode = 2
)

type Failure string

const (
	FailLocal  Failure = "local"
	FailOpen   Failure = "open"
	FailClosed Failure = "closed"
)

type Empty uint8

const (
	EmptyShare Empty = 1
	EmptyAllow Empty = 2
)

type Limit struct {
	Algorithm Algorithm
	Count     int64
	Period    time.Duration
	Burst     int64
	Refill    Refill
}

type Algorithm uint8

const (
	TokenBucket   Algorithm = 0
	FixedWindow   Algorithm = 1
	SlidingLog    Algorithm = 2
	SlidingWindow Algorithm = 3
	LeakyBucket   Algorithm = 4
	Concurrency   Algorithm = 5
)

type Refill uint8

const Interval Refill = 1

var ErrLimited error

type LimitError struct{}

func (*LimitError) Error() string

type Arg struct{}

func String(s string) Arg
func Bytes(b []byte) Arg
func Int(n int64) Arg
func Uint(n uint64) Arg
func Bool(b bool) Arg
func Stringer(s interface{ String() string }) Arg
func Text(m interface{ MarshalText() (text []byte, err error) }) Arg
func Cost(limit string, n int64) Arg
func SkipIf(limit string, condition bool) Arg
`,
	httplimitPath: `package httplimit

import (
	"context"
	"net/http"
)

func WriteError(w http.ResponseWriter, r *http.Request, err error) bool
func AfterCall(r *http.Request, call, caller context.Context) *http.Request
`,
	// The user's types are not of the packages below where these stand for them.
	"net/http": `package http

import "context"

type ResponseWriter struct{}
type Request struct{}

func (*Request) WithContext(ctx context.Context) *Request
`,
	"context": `package context

import "time"

type Context interface {
	Deadline() (deadline time.Time, ok bool)
	Done() <-chan struct{}
	Err() error
	Value(key any) any
}

func Background() Context
`,
	"errors": `package errors

func Is(err, target error) bool
func AsType[E error](err error) (E, bool) { panic(err) }
`,
	"time": `package time

type Time struct{}
type Duration int64

const (
	Nanosecond  Duration = 1
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)
`,
}
