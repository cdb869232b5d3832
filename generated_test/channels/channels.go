// Package channels has channels of channels, of all directions, and of functions.
package channels

type Wires interface {
	//ratelimit:count=2 time=1h
	Plug(a chan (<-chan int), b chan<- chan int, c <-chan (chan<- string), d chan (chan<- int)) (<-chan func() error, error)
	Bus(in ...<-chan []byte) (out chan<- (<-chan struct{}))
}
