package memlimit

import "slices"

// array is a slice in pieces, which grows and shrinks by one of them: however long it is, nothing but the first piece is
// ever copied. What is not a pointer is not scanned by the garbage collector.
type array[T any] struct {
	pieces [][]T
	unit   uint // how many Ts an element has
	len    uint // elements
}

const (
	pieceLen = 512 // elements of a piece; the first has fewer as long as it is the only one
	minPiece = 8
)

// slice returns the i-th element, until the next push or pop.
func (a *array[T]) slice(i uint) []T {
	from := i % pieceLen * a.unit
	return a.pieces[i/pieceLen][from : from+a.unit]
}

// at returns the i-th element of an array whose unit is 1, until the next push or pop.
func (a *array[T]) at(i uint) *T { return &a.pieces[i/pieceLen][i%pieceLen] }

// push appends a zero element.
func (a *array[T]) push() {
	switch last := int(a.len / pieceLen); {
	case last == len(a.pieces) && last == 0:
		a.pieces = append(a.pieces, make([]T, minPiece*a.unit))
	case last == len(a.pieces):
		a.pieces = append(a.pieces, make([]T, pieceLen*a.unit))
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
	last := len(a.pieces) - 1
	switch {
	case last > 0 && int(a.len) <= last*pieceLen-pieceLen/2:
		a.pieces[last] = nil
		a.pieces = a.pieces[:last]
		if c := cap(a.pieces); c > pieceLen && last <= c/4 {
			a.pieces = slices.Clone(a.pieces)
		}
	case last == 0:
		if n := uint(len(a.pieces[0])) / a.unit; n > minPiece && a.len <= n/4 {
			a.resize(n / 2)
		}
	}
}

// resize makes an only piece one of n elements.
func (a *array[T]) resize(n uint) {
	piece := make([]T, n*a.unit)
	copy(piece, a.pieces[0])
	a.pieces[0] = piece
}
