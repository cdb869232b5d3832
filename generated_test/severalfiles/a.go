// Package severalfiles has limited interfaces in several files, with methods and keys of one name.
package severalfiles

type Reader interface {
	//ratelimit:key=io count=2 time=1h
	Do(p []byte) error
}

// Writer shares the bucket of Reader: the key and the limit are the same.
type Writer interface {
	//ratelimit:key=io count=2 time=1h
	Do(p []byte) error
}
