package memlimit

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestLineIsACacheLine(t *testing.T) {
	if n := unsafe.Sizeof(line{}); n != 64 {
		t.Errorf("a line has %d bytes: want 64", n)
	}
}

// Every place of a tag is found, and the first that is found is one. Others may have a tag that is nearly the same.
func TestLineMatchesItsTags(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var l line
		tag := tagOf(random.Uint32() & 0x87ff_ffff)
		for i := range l.tags {
			switch random.IntN(4) {
			case 0:
				l.tags[i] = tag
			case 1:
				l.tags[i] = max(2, tag^1)
			case 2:
				l.tags[i] = tagOf(random.Uint32())
			}
		}
		for _, want := range []uint8{noTag, tag} {
			var found [perLine]bool
			all := l.match(want)
			for m := all; m != 0; m = m.rest() {
				found[m.first()] = true
			}
			for i, got := range l.tags {
				if got == want && !found[i] || got != want && found[i] && (want == noTag || got != want^1) {
					t.Fatalf("place %d of tags %d is found for %d: %v", i, l.tags, want, found[i])
				}
			}
			if all != 0 && l.tags[all.first()] != want {
				t.Fatalf("the first of tags %d for %d is place %d", l.tags, want, all.first())
			}
		}
	}
}
