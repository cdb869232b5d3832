// Package typeliterals has signatures of types without a name: arrays whose lengths are constants, structs with tags,
// interfaces, and types of package unsafe.
package typeliterals

import (
	"crypto/sha256"
	"io"
	"math"
	"sort"
	"unsafe"
)

const lanes = 4

type Gram int

type Hasher interface {
	//ratelimit:count=2 time=1h
	Sum(in [lanes][1 + 2]byte, pad [2]int) ([sha256.Size]byte, error)
	//ratelimit:count=2 time=1h
	Wide(w [math.MaxInt8]string, n [len("abc")]bool) error
	// Tag has a tag that must stay as it is, since it is part of the type.
	//
	//ratelimit:count=2 time=1h
	Tag(row struct {
		ID   int    `z:"1" a:"2"   json:"id,omitempty"`
		Text string "json:\"-\""
		io.Reader
	}) (struct{}, unsafe.Pointer, error)
	//ratelimit:count=2 time=1h
	Sort(by interface {
		sort.Interface
		Name(io.Reader) (string, error)
	}, opts ...interface{ Apply(*int) }) (interface{ Done() <-chan struct{} }, error)
	// Weigh has results that share their types.
	Weigh(a, b, c Gram, p *Gram) (total, tare Gram, f func() error)
}
