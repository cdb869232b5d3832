// Package annotations is the grammar of the //ratelimit: directive: one comment in, a checked [Annotation] or all its
// mistakes out, each at its offset.
//
// # Form
//
//	directive = "//ratelimit:" ( attrs | "limit" SP attrs | "skip" )
//	attrs     = attr { SP attr }
//	attr      = name "=" value | name
//	value     = bare | "Go string" | `raw string`
//	SP        = spaces or tabs
//
// Attributes straight after the colon are the short form of limit. A directive that is skip alone exempts a method from
// the defaults of its interface; skip={expr} is an attribute. A bare name means true, for ip only.
//
// A bare value ends at the first blank outside braces: inside {...} blanks, quotes and further braces are part of the
// value, as in skip={req.Kind == "health check"}. {{ and }} stand for one literal brace and open nothing. Other values
// with blanks are quoted. Values are UTF-8 without control characters.
//
// # Attributes
//
//	key        template of the bucket's identity, see below
//	count      1 to 1000000000 calls a period; for concurrency the slots
//	time       the period, 1ms to 366d: seconds, or 500ms 10s 1m30s 24h 7d; default 1s (concurrency: the lease, 30s)
//	rate       count and time in one: 5/s 100/m 1000/h 10/d 20/15m
//	ip         true or false: short for by=ip
//	by         caller attributes, comma separated: ip,user
//	algorithm  token-bucket (default) fixed-window sliding-log sliding-window leaky-bucket concurrency
//	burst      1 to 1000000000, default count: capacity of token-bucket and leaky-bucket
//	refill     greedy (default) or interval: token-bucket only
//	cost       0 to the capacity, or {int expr}; default 1
//	skip       {bool expr}: true is not limited and not counted
//	refund     {bool expr} over parameters and results: true gives the cost back
//	wait       as time: wait at most this long for a place
//	fallback   a function of the package or a method of the interface: called instead of refusing
//	fail       local, open or closed: when the store cannot answer
//	mode       enforce, shadow or off
//	onempty    deny, share or allow: when a part of the identity is empty
//	prefetch   2 to count and burst, at least cost: so many units are taken from the store at once; token-bucket,
//	           leaky-bucket and fixed-window, without wait
//	message    text for the refused caller
//	status     400 to 999
//	name       an identifier, default the period as written: 1s
//	methods    comma separated names or prefixes (List*), on an interface only
//
// count or rate is required. Except for concurrency, a limit passes at most 1000000 calls a second, and an empty bucket
// is full again within 100 years.
//
// # Key templates
//
// A key is literal text with holes: {@name} is an attribute of the caller, {expr} a Go expression of type string, []byte
// or bool, an integer, an [encoding.TextMarshaler] or a [fmt.Stringer]. Buckets are known by the values, wherever those
// come from: user:{id} and user:{@user} share one for equal values, so that their limits must be equal in all of a module.
//
// # Expressions
//
// The expressions of key, cost, skip and refund are Go over the method's parameters, of which $0 is the first whether
// it has a name or not, and over what the file with the directive sees: the names of its package and its imports, which
// Go wants to be used in code, too. They may select, index, slice, convert, compare and calculate, and call len, cap,
// min, max, functions, and methods of values. They have no literals of structs, maps or functions, no type assertions,
// and nothing that changes anything. Those of refund see the results too: by their names, or else as ret0, ret1, ...,
// and an error that is last and has no name as err. There a parameter that is called like a result goes by $0.
//
// Nothing on the way to a value makes an expression panic: no nil pointer, interface or function, no index out of
// range, no divisor of zero. A part of a key is missing then, and onempty decides. A cost is 1. A condition does not
// hold, and neither does its negation: of skip={req.Internal || isLocal(ctx)}, the second one decides about a nil req.
// Two interfaces are not compared, since that panics if they hold slices, but for an error with a variable of a
// package. What a function does with the arguments that it is given, and a method with a nil pointer inside an
// interface, is theirs to know.
//
// Only the syntax of an expression is checked here: names and types are the generator's to check.
package annotations

import (
	"fmt"
	"strings"
	"time"
)

// Algorithm names the way in which a limit counts, in the directive's spelling.
type Algorithm string

// The algorithms of a directive. TokenBucket is the default.
const (
	TokenBucket   Algorithm = "token-bucket"
	FixedWindow   Algorithm = "fixed-window"
	SlidingLog    Algorithm = "sliding-log"
	SlidingWindow Algorithm = "sliding-window"
	LeakyBucket   Algorithm = "leaky-bucket"
	Concurrency   Algorithm = "concurrency"
)

// Refill says when the tokens of a [TokenBucket] come back, in the directive's spelling.
type Refill string

// The refills of a directive. Greedy, the default, adds tokens continuously; Interval adds Count after each full Period.
const (
	Greedy   Refill = "greedy"
	Interval Refill = "interval"
)

// Annotation is one directive, with every default filled in that does not depend on where it stands. [Parse] makes it;
// nothing changes it afterwards, so it may be read concurrently.
type Annotation struct {
	// Exempt is true for //ratelimit:skip, and then every other field is zero.
	Exempt bool

	// Methods are the names, or prefixes that end in *, of methods=. Nil when absent. It makes sense on an interface
	// only, which the caller checks.
	Methods []string

	// Key is nil when absent: the identity is then the method.
	Key *Template

	// Count is the calls, or units of cost, a Period; for Concurrency the slots.
	Count int64

	// Period is whole milliseconds, 1ms to 366d; for Concurrency the lease.
	Period time.Duration

	// PeriodText is Period as written, with its unit: "1s" for time=1, "15m" for rate=20/15m.
	PeriodText string

	// By holds the caller attributes in the order of by=. ip=true puts "ip" first unless by= lists it.
	By []string

	// Algorithm is never empty unless Exempt.
	Algorithm Algorithm

	// Burst is the capacity, 0 when absent: the capacity is then Count.
	Burst int64

	// Refill is empty for every Algorithm but TokenBucket.
	Refill Refill

	// Cost is the units that one call takes, 1 when absent. CostExpr replaces it when not nil.
	Cost     int64
	CostExpr *Expr

	// Skip and Refund are nil when absent.
	Skip   *Expr
	Refund *Expr

	// Wait is 0 when absent: a call is refused at once.
	Wait time.Duration

	// Fallback is the name of a function or method, empty when absent. Whether there is one is the generator's to check.
	Fallback string

	// Fail, Mode and OnEmpty are one of the attribute's words, or empty when absent.
	Fail    string
	Mode    string
	OnEmpty string

	// Prefetch is 0 when absent, otherwise 2 to Count and Burst, and at least Cost where that is no expression.
	Prefetch int64

	// Message is empty when absent.
	Message string

	// Status is 0 when absent, otherwise 400 to 999.
	Status int

	// Name tells the limits of one method apart: name= as written, or PeriodText.
	Name string

	attributes []attribute // in source order, each name once
}

// Has reports whether the directive spells out the named attribute, even with its default as value.
func (a *Annotation) Has(attr string) bool {
	return a.find(attr) != nil
}

// Offset returns where the name of the attribute starts, in bytes after the comment's first slash. An attribute that is
// not written is at 0, the start of the directive.
func (a *Annotation) Offset(attr string) int {
	if w := a.find(attr); w != nil {
		return w.offset
	}
	return 0
}

// ValueOffset returns where the attribute's value starts, inside its quotes, in bytes after the comment's first slash.
// The value of a bare name is at the name, and that of an attribute that is not written at 0.
func (a *Annotation) ValueOffset(attr string) int {
	if w := a.find(attr); w != nil {
		return w.value.offset
	}
	return 0
}

func (a *Annotation) find(name string) *attribute {
	for i := range a.attributes {
		if a.attributes[i].name == name {
			return &a.attributes[i]
		}
	}
	return nil
}

// Template is the value of key. It has at least one part, and never two literals in a row.
type Template struct {
	Parts []Part
}

// Part is a piece of a [Template]. Exactly one of Literal, Caller and Expr is set.
type Part struct {
	Literal string // text, with {{ and }} already read as braces
	Caller  string // the attribute of a {@name} hole: "ip" for {@ip}
	Expr    *Expr  // the expression of a {expr} hole
	Offset  int    // where a hole starts, in bytes after the comment's first slash; 0 for a literal
}

// Error is one mistake in a directive.
type Error struct {
	// Offset is where the mistake is, in bytes after the comment's first slash.
	Offset int

	// Message says what was seen and what is wanted, in lower case.
	Message string

	// Edit is what was certainly meant, or nil where there is doubt. The comment may have other mistakes.
	Edit *Edit
}

// Edit puts Text in the place of the bytes from Start up to End, counted from the comment's first slash.
type Edit struct {
	Start, End int
	Text       string
}

// Error returns the message alone: only the caller knows the file and line.
func (e *Error) Error() string { return e.Message }

// Errors are all the mistakes of one directive, in order of offset. It is never empty.
type Errors []*Error

// Error returns the messages, one a line.
func (e Errors) Error() string {
	messages := make([]string, len(e))
	for i, mistake := range e {
		messages[i] = mistake.Message
	}
	return strings.Join(messages, "\n")
}

func (e *Errors) add(offset int, format string, args ...any) {
	*e = append(*e, &Error{Offset: offset, Message: fmt.Sprintf(format, args...)})
}
