package memlimit

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestArrayIsASlice(t *testing.T) {
	for _, unit := range []uint{3, maxKept, maxKept + 1, maxPiece / 3, maxPiece / 2, maxPiece, maxPiece + 1} {
		t.Run(fmt.Sprint("of ", unit), func(t *testing.T) { testArrayIsASlice(t, unit, int(min(20_000, 100*maxPiece/unit))) })
	}
}

func testArrayIsASlice(t *testing.T, unit uint, steps int) {
	a := newArray[int32](unit)
	var want []int32
	random := rand.New(rand.NewPCG(1, 2))
	for round, grows := range []int{6, 4, 6, 3} { // of ten steps
		for range steps {
			if random.IntN(10) < grows {
				a.push()
				if e := a.slice(a.len - 1); e[0] != 0 || e[unit-1] != 0 {
					t.Fatalf("round %d: a new element is %d … %d", round, e[0], e[unit-1])
				}
				n := random.Int32()
				a.slice(a.len - 1)[0], a.slice(a.len - 1)[unit-1] = n, -n
				want = append(want, n)
			} else if len(want) > 0 {
				a.pop()
				want = want[:len(want)-1]
			}
			if i := len(want); i > 0 {
				i = random.IntN(i)
				if e := a.slice(uint(i)); len(e) != int(unit) || e[0] != want[i] || e[unit-1] != -want[i] {
					t.Fatalf("round %d: element %d of %d is %d … %d: want %d", round, i, len(want), e[0], e[unit-1], want[i])
				}
			}
			checkArray(t, &a, len(want))
		}
	}
}

// checkArray checks how many elements an array has, and how much room.
func checkArray(t *testing.T, a *array[int32], want int) {
	t.Helper()
	if int(a.len) != want {
		t.Fatalf("%d elements: want %d", a.len, want)
	}
	room := 0
	for _, p := range a.pieces {
		room += len(p)
		if len(p) > max(maxPiece, int(a.unit)) {
			t.Fatalf("a piece of %d", len(p))
		}
	}
	// Half of a piece that is let go, and that which is not yet.
	if most := max(4*want*int(a.unit), maxKept, want*int(a.unit)+maxPiece*3/2); room > most || want == 0 && room > maxKept {
		t.Fatalf("%d elements of %d have room of %d", want, a.unit, room)
	}
}

// Beyond the first piece nothing moves, or a call would pay for all that others have.
func TestArrayDoesNotMoveWhatItHas(t *testing.T) {
	a := newArray[byte](1)
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
