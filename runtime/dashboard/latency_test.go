package dashboard

import (
	"math"
	"testing"
	"time"
)

// What is told of a time is never less than it was, and a quarter more at most.
func TestClassesOfTimes(t *testing.T) {
	for d := time.Duration(1); d < 30*time.Second; d += 1 + d/97 {
		if got := longest(class(d)); got < d || got > max(d+d/quarters, quarters)+1 {
			t.Fatalf("%d ns is told as %d", d, got)
		}
	}
	for _, d := range []time.Duration{-1, 0, 1, quarters - 1} {
		if got := class(d); got != 0 {
			t.Errorf("%d ns is of class %d, want 0", d, got)
		}
	}
	if got := class(math.MaxInt64); got != classes-1 {
		t.Errorf("the longest time is of class %d, want the last one, %d", got, classes-1)
	}
}
