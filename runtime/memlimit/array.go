package memlimit

import (
	"math/bits"
	"slices"
)

// array is a slice in pieces, which grows and shrinks by one of them: however long it is, nothing but the first piece is
// ever copied. What is not a pointer is not scanned by the garbage collector.
type array[T any] struct {
	pieces [][]T
	unit   uint // how many Ts an element has
	len    uint // elements
	shift  uint // a piece has 1<<shift elements
}

const (
	// pieceLen is how many elements a piece has. The first has fewer as long as it is the only one: 1/startShare at the start.
	pieceLen   = 1 << pieceShift
	pieceShift = 8
	startShare = 64
	// maxPiece is how many Ts a piece has at most: of large elements there are fewer in it, but always one.
	maxPiece = 1 << 16
	// maxKept is how many Ts an empty array keeps at most, so that an element that comes and goes does not ask for them
	// each time. A larger one takes as long to be filled.
	maxKept = maxPiece / startShare
)

// newArray returns an empty array of elements of unit Ts.
func newArray[T any](unit uint) array[T] {
	shift := uint(0)
	for shift < pieceShift && unit<<(shift+1) <= maxPiece {
		shift++
	}
	return array[T]{unit: unit, shift: shift}
}

// slice returns the i-th element, until the next push or pop.
func (a *array[T]) slice(i uint) []T {
	shift := a.shift % bits.UintSize // which the compiler needs no check for
	from := (i & (1<<shift - 1)) * a.unit
	return a.pieces[i>>shift][from : from+a.unit]
}

// at returns the i-th element of an array whose unit is 1, until the next push or pop.
func (a *array[T]) at(i uint) *T { return &a.pieces[i/pieceLen][i%pieceLen] }

// push appends a zero element.
func (a *array[T]) push() {
	switch last := int(a.len >> a.shift); {
	case last == len(a.pieces) && last == 0:
		a.pieces = append(a.pieces, make([]T, a.start()*a.unit))
	case last == len(a.pieces):
		a.pieces = append(a.pieces, make([]T, a.unit<<a.shift))
	case last == 0 && a.len*a.unit == uint(len(a.pieces[0])):
		a.resize(2 * a.len)
	}
	a.len++
}

// pop removes the last element. A piece is let go once half of the one before it is empty, too, so that a few pushes do not
// ask for it again.
func (a *array[T]) pop() {
	a.len--
	clear(a.slice(a.len))
	last, full := len(a.pieces)-1, uint(1)<<a.shift
	switch {
	case last > 0 && a.len <= uint(last)*full-full/2:
		a.pieces[last] = nil
		a.pieces = a.pieces[:last]
		if c := cap(a.pieces); c > pieceLen && last <= c/4 {
			a.pieces = slices.Clone(a.pieces)
		}
	case a.len == 0 && len(a.pieces[0]) > maxKept:
		a.pieces = nil
	case last == 0:
		if n := uint(len(a.pieces[0])) / a.unit; n > a.start() && a.len <= n/4 {
			a.resize(n / 2)
		}
	}
}

// start returns how many elements the first piece has at the start.
func (a *array[T]) start() uint { return max(1, uint(1)<<a.shift/startShare) }

// resize makes an only piece one of n elements.
func (a *array[T]) resize(n uint) {
	piece := make([]T, n*a.unit)
	copy(piece, a.pieces[0])
	a.pieces[0] = piece
}
