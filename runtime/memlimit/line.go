package memlimit

import (
	"encoding/binary"
	"math/bits"
)

// line is a cache line that says where the records of some hashes are. Beside each is a byte of its hash, so that hardly any
// record of another hash is looked at: it would have to be fetched from memory first.
type line struct {
	tags [perLine]uint8 // noTag where refs has none
	refs [perLine]ref
	more ref // the first of those for which there is no place, each of which refers to the next; 0 if there are none
}

const (
	perLine = 12
	noTag   = 0
)

// tagOf returns the tag of a hash, of bits that do not choose its line unless there are millions. It is 2 at least, see match.
func tagOf(hash uint32) uint8 { return max(2, uint8(hash>>24)) }

// matches are places in a line, as bits: of the first eight places the lowest of each byte, of the others the one above.
type matches uint64

// match returns the places of a tag. The first is right. Further ones may be of a tag that is the same but for its lowest bit,
// which the subtraction borrows from, and so never of noTag.
func (l *line) match(tag uint8) matches {
	const ones, highs = 0x0101_0101_0101_0101, 0x8080_8080_8080_8080
	x := binary.LittleEndian.Uint64(l.tags[:]) ^ ones*uint64(tag)
	y := binary.LittleEndian.Uint32(l.tags[8:]) ^ ones>>32*uint32(tag)
	x = (x - ones) &^ x & highs // has the highest bit of each byte that is 0 in x
	y = (y - ones>>32) &^ y & (highs >> 32)
	return matches(x>>7 | uint64(y)>>6)
}

// first returns the first place.
func (m matches) first() int {
	bit := bits.TrailingZeros64(uint64(m))
	return bit/8 + bit%8*8
}

// rest returns the places but the first.
func (m matches) rest() matches { return m & (m - 1) }
