package limiters

import "strings"

// stride is a prime above the number of any keys, and so leads through all of them.
const stride = 4294967291

// Keys are prebuilt keys, such as those of callers, known by their numbers. They are as long as each other, and lie in two
// blocks of memory without pointers, so that ten million of them are no work for the garbage collector.
type Keys struct {
	n     int
	size  int // of a key
	step  int // from one to the next in their order
	text  string
	bytes []byte
	fresh bool
}

// NewKeys returns n keys of 20 bytes.
func NewKeys(n int) *Keys {
	var text []byte
	for i := range n {
		text = append(text, "testGet:"...)
		for unit := int(1e11); unit > 0; unit /= 10 {
			text = append(text, byte('0'+i/unit%10))
		}
	}
	return newKeys(n, text)
}

// Key returns a single one.
func Key(key string) *Keys { return newKeys(1, []byte(key)) }

func newKeys(n int, text []byte) *Keys {
	return &Keys{n: n, size: len(text) / n, step: stride % n, text: string(text), bytes: text}
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
	key := k.text[i*k.size : (i+1)*k.size]
	if k.fresh {
		return strings.Clone(key)
	}
	return key
}

// Bytes returns a key that is not to be changed.
func (k *Keys) Bytes(i int) []byte { return k.bytes[i*k.size : (i+1)*k.size] }

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
