// Package fallbackshapes has fallbacks of methods of many shapes.
package fallbackshapes

import (
	"context"
	"io"
	"net/http"
	"sort"

	rl "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Sorter has a fallback for a method of another module, which cannot be refused.
//
//ratelimit:count=1 time=1h fallback=noLess methods=Less
type Sorter sort.Interface

// Reader has a fallback for a method that it embeds.
//
//ratelimit:count=1 time=1h fallback=Empty methods=Read
type Reader interface {
	io.ReadWriter
	Empty(p []byte) (n int, err error)
}

// Alias has types that are written out.
type Alias = interface {
	//ratelimit:count=1 time=1h fallback=noFuncs
	Funcs(fns ...func(...int)) (<-chan int, [3]struct{ A int })
}

type Shapes interface {
	// Same takes what a fallback may be told.
	//
	//ratelimit:count=1 time=1h fallback=same
	Same(e *rl.LimitError) error
	//ratelimit:count=1 time=1h fallback=sameAndTold
	SameAndTold(e *rl.LimitError) error
	//ratelimit:count=1 time=1h fallback=told refund={ret0 == nil}
	Handle(w http.ResponseWriter, r *http.Request) error
	//ratelimit:count=1 algorithm=concurrency fallback=untold
	HandleInSlot(w http.ResponseWriter, r *http.Request)
	// Multi has results that are called like variables of ours.
	//
	//ratelimit:count=1 time=1h refund={ret1 > 2} fallback=multi
	Multi(ctx context.Context) (limitErr string, ok int)
	//ratelimit:count=1 time=1h refund={ctx == nil} fallback=none
	None(ctx context.Context)
	// Concrete has an error that is no error to Go.
	//
	//ratelimit:count=1 time=1h fallback=concrete
	Concrete(ctx context.Context) *Error
	// Single has one result, and a variable for it.
	//
	//ratelimit:count=1 time=1h refund={ret0 < 0} fallback=single
	Single(ctx context.Context, id string) int
	error
}

type Error struct{ text string }

func noLess(int, int) bool { return false }

func noFuncs(fns []func(...int), e *rl.LimitError) (<-chan int, [3]struct{ A int }) {
	if e != nil {
		for _, fn := range fns {
			fn(1, 2)
		}
	}
	return nil, [3]struct{ A int }{{7}}
}

func same(e *rl.LimitError) error { return e }

func sameAndTold(_, e *rl.LimitError) error { return e }

func told(w http.ResponseWriter, _ *http.Request, e *rl.LimitError) error {
	w.WriteHeader(e.Status)
	return nil
}

func untold(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

func multi(context.Context) (string, int) { return "fallback", 1 }

var nones int

func none(context.Context) { nones++ }

func concrete(context.Context) *Error { return &Error{"fallback"} }

func single(context.Context, string) int { return -1 }
