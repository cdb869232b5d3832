package limiters

// stride is a prime above the number of any keys, and so leads through all of them.
const stride = 4294967291

const (
	prefix  = "testGet:"
	digits  = 12
	keySize = len(prefix) + digits
)

// Keys are such as callers have, known by their numbers. They are as long as each other. Those that are prebuilt lie in two
// blocks of memory without pointers.
type Keys struct {
	n     int
	size  int // of a key
	step  int // from one to the next in their order
	text  string
	bytes []byte
	fresh bool // each is made or copied when it is asked for
}

// NewKeys returns n prebuilt keys of 20 bytes.
func NewKeys(n int) *Keys {
	text := make([]byte, 0, n*keySize)
	for i := range n {
		text = appendKey(text, i)
	}
	return &Keys{n: n, size: keySize, step: stride % n, text: string(text), bytes: text}
}

// FreshKeys returns the same keys, of which each is made when it is asked for, as that of a request is. So no memory is
// read for them, and a limiter that keeps the text of its callers' keys holds memory for it.
func FreshKeys(n int) *Keys { return &Keys{n: n, size: keySize, step: stride % n, fresh: true} }

// Key returns a single one.
func Key(key string) *Keys { return &Keys{n: 1, size: len(key), text: key, bytes: []byte(key)} }

func appendKey(b []byte, i int) []byte {
	b = append(b, prefix...)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[i>>shift&15])
	}
	return b
}

// Len returns how many there are.
func (k *Keys) Len() int { return k.n }

// String returns a key.
func (k *Keys) String(i int) string {
	if k.fresh {
		return string(appendKey(nil, i))
	}
	return k.text[i*k.size : (i+1)*k.size]
}

// Bytes returns a key that is not to be changed. A fresh one is in the buffer, which has room for it.
func (k *Keys) Bytes(buffer []byte, i int) []byte {
	if k.fresh {
		return appendKey(buffer[:0], i)
	}
	return k.bytes[i*k.size : (i+1)*k.size]
}

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
