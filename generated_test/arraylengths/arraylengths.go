// Package arraylengths has arrays whose lengths are not the same on every platform.
package arraylengths

import (
	"math/bits"
	. "strconv"
	"unsafe"

	"github.com/ratelimitgen/ratelimitgen/generated_test/arraylengths/table"
)

type header struct{ Data, Len uintptr }

const word = unsafe.Sizeof(uintptr(0))

var pair [2]uintptr

type Slot[V any] interface {
	Swap(v V) (old []V, err error)
}

// Block has such lengths in all places.
type Block[T ~[IntSize]byte | [word]byte] interface {
	table.Table
	Slot[[word]int]

	//ratelimit:count=2 time=1h
	Read(bits, digits [bits.UintSize]byte, plain [0x40]byte) ([IntSize]byte, T, error)
	//ratelimit:count=2 time=1h
	Raw(map[[word]byte]chan [unsafe.Sizeof(header{})]byte, ...[(word << 1) + uintptr(len("ab"))]*int) ([word]header, error)
	//ratelimit:count=2 time=1h
	Each(visit func([unsafe.Sizeof(pair)]int) interface{ Row([word]int) }) error
}
