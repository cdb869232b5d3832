package limiters

import (
	"fmt"
	"strings"
)

const (
	keySize = 20
	// stride is a prime above the number of any keys, and so leads through all of them.
	stride = 4294967291
)

// Keys are prebuilt keys of 20 bytes, such as those of callers, known by their numbers. They lie in two blocks of memory
// that hold no pointers, so that ten million of them are no work for the garbage collector.
type Keys struct {
	n     int
	step  int // from one to the next in their order
	text  string
	bytes []byte
	fresh bool
}

// NewKeys returns n keys.
func NewKeys(n int) *Keys {
	var text strings.Builder
	text.Grow(n * keySize)
	for i := range n {
		fmt.Fprintf(&text, "testGet:%0*d", keySize-len("testGet:"), i)
	}
	return &Keys{n: n, step: stride % n, text: text.String(), bytes: []byte(text.String())}
}

// Fresh returns the same keys, of which each is copied when it is asked for, as that of a request is. A limiter that keeps
// the text of its callers' keys then holds memory for it.
func (k *Keys) Fresh() *Keys {
	fresh := *k
	fresh.fresh = true
	return &fresh
}

// Len returns how many there are.
func (k *Keys) Len() int { return k.n }

// String returns a key.
func (k *Keys) String(i int) string {
	key := k.text[i*keySize : (i+1)*keySize]
	if k.fresh {
		return strings.Clone(key)
	}
	return key
}

// Bytes returns a key that is not to be changed.
func (k *Keys) Bytes(i int) []byte { return k.bytes[i*keySize : (i+1)*keySize] }

// Nth returns the n-th key in a scattered order that has each key once and then begins anew.
func (k *Keys) Nth(n int) int { return n % k.n * k.step % k.n }

// Next returns the key that follows one in the order of [Keys.Nth].
func (k *Keys) Next(key int) int {
	key += k.step
	if key >= k.n {
		key -= k.n
	}
	return key
}
