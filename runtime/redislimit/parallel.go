package redislimit

import "sync"

// caught does something, and returns what it panicked with. In a goroutine that would end the program, and hooks of the
// client may panic: it is to be thrown again in the call, whose owner recovers it.
func caught(do func()) (panicked any) {
	defer func() { panicked = recover() }()
	do()
	return nil
}

// parallel does n things, so many at the same time at most. If any panics, so does parallel, when all are done.
func parallel(n, most int, do func(i int)) {
	panics := make([]any, n)
	places := make(chan struct{}, most)
	var wg sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			panics[i] = caught(func() { do(i) })
		})
	}
	wg.Wait()
	for _, panicked := range panics {
		if panicked != nil {
			panic(panicked)
		}
	}
}
