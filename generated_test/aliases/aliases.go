// Package aliases has directives on aliases and on types that are defined by another interface.
package aliases

import (
	"io"

	"github.com/ratelimitgen/ratelimitgen/generated_test/aliases/stream"
)

type Msg struct{ Body string }

// Feed is an alias of an instance of a generic interface.
//
//ratelimit:count=2 time=1h methods=Recv
type Feed = stream.Source[Msg]

// Pairs is a generic alias.
//
//ratelimit:count=2 time=1h methods=Put
type Pairs[V any] = stream.Dual[string, V]

type Store[T any] interface {
	//ratelimit:count=2 time=1h
	Save(v T) error
	Load(id string) (T, error)
}

// UserStore is defined by an interface of this package, whose lines are nearer than its own.
//
//ratelimit:count=3 time=1h
type UserStore Store[Msg]

// Sink is defined by an interface of another package.
//
//ratelimit:count=2 time=1h
type Sink io.WriteCloser
