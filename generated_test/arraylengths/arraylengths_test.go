package arraylengths

import (
	"strconv"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/arraylengths/table"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type ints [strconv.IntSize]byte

type block struct{}

func (block) Cells([table.Width / 8][3]byte) ([3]string, error) { return [3]string{"a"}, nil }

func (block) Swap(v [word]int) ([][word]int, error) { return [][word]int{v}, nil }

func (block) Read(a, _ [strconv.IntSize]byte, _ [0x40]byte) ([strconv.IntSize]byte, ints, error) {
	return a, ints(a), nil
}

func (block) Raw(map[[word]byte]chan [2 * word]byte, ...[2*word + 2]*int) ([word]header, error) {
	return [word]header{}, nil
}

func (block) Each(func([2 * word]int) interface{ Row([word]int) }) error { return nil }

func TestBlock(t *testing.T) {
	b := NewRateLimitedBlock[ints](block{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "arraylengths.Block.Cells", func() error {
		got, err := b.Cells([table.Width / 8][3]byte{})
		if (got[0] == "a") != (err == nil) {
			t.Errorf("got %v, %v", got, err)
		}
		return err
	})
	limittest.Admits(t, 2, "arraylengths.Block.Read", func() error {
		got, same, err := b.Read([strconv.IntSize]byte{1}, [strconv.IntSize]byte{}, [0x40]byte{})
		if (got[0] == 1) != (err == nil) || ints(got) != same {
			t.Errorf("got %v, %v, %v", got, same, err)
		}
		return err
	})
	limittest.Admits(t, 2, "arraylengths.Block.Raw", func() error {
		_, err := b.Raw(nil)
		return err
	})
	limittest.Admits(t, 2, "arraylengths.Block.Each", func() error { return b.Each(nil) })
}
