package memlimit

import (
	"math/rand/v2"
	"testing"
)

func TestArrayIsASlice(t *testing.T) {
	a := array[int]{unit: 3}
	var want []int
	random := rand.New(rand.NewPCG(1, 2))
	for round, grows := range []int{6, 4, 6, 3} { // of ten steps
		for range 20_000 {
			if random.IntN(10) < grows {
				a.push()
				if e := a.slice(a.len - 1); e[0] != 0 || e[2] != 0 {
					t.Fatalf("round %d: a new element is %v", round, e)
				}
				n := random.Int()
				a.slice(a.len - 1)[0], a.slice(a.len - 1)[2] = n, -n
				want = append(want, n)
			} else if len(want) > 0 {
				a.pop()
				want = want[:len(want)-1]
			}
			if i := len(want); i > 0 {
				i = random.IntN(i)
				if e := a.slice(uint(i)); len(e) != 3 || e[0] != want[i] || e[2] != -want[i] {
					t.Fatalf("round %d: element %d of %d is %v: want %d", round, i, len(want), e, want[i])
				}
			}
			if int(a.len) != len(want) {
				t.Fatalf("round %d: %d elements: want %d", round, a.len, len(want))
			}
			if n := len(a.pieces); n > len(want)/pieceLen+2 {
				t.Fatalf("round %d: %d pieces for %d elements", round, n, len(want))
			}
		}
	}
}

// Beyond the first piece nothing moves, or a call would pay for all that others have.
func TestArrayDoesNotMoveWhatItHas(t *testing.T) {
	a := array[byte]{unit: 1}
	var at []*byte
	for i := range 100 * pieceLen {
		a.push()
		if i >= pieceLen {
			at = append(at, a.at(uint(i)))
		}
	}
	for i := range 50 * pieceLen {
		if a.at(uint(pieceLen+i)) != at[i] {
			t.Fatalf("element %d has moved", pieceLen+i)
		}
		a.pop()
	}
}
