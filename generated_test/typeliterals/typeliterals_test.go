package typeliterals_test

import (
	"context"
	"crypto/sha256"
	"io"
	"math"
	"sort"
	"testing"
	"unsafe"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/typeliterals"
)

type row = struct {
	ID   int    `z:"1" a:"2"   json:"id,omitempty"`
	Text string "json:\"-\""
	io.Reader
}

type (
	named = interface {
		sort.Interface
		Name(io.Reader) (string, error)
	}
	option = interface{ Apply(*int) }
	done   = interface{ Done() <-chan struct{} }
)

type hasher struct{ limittest.Calls }

func (h *hasher) Sum(in [4][3]byte, pad [2]int) ([sha256.Size]byte, error) {
	h.Add("Sum", in, pad)
	return [sha256.Size]byte{1}, nil
}

func (h *hasher) Wide(w [math.MaxInt8]string, n [3]bool) error {
	h.Add("Wide", w, n)
	return nil
}

func (h *hasher) Tag(r row) (struct{}, unsafe.Pointer, error) {
	h.Add("Tag", r)
	return struct{}{}, unsafe.Pointer(h), nil
}

func (h *hasher) Sort(by named, opts ...option) (done, error) {
	h.Add("Sort", by, opts)
	return context.Background(), nil
}

func (h *hasher) Weigh(a, b, c typeliterals.Gram, p *typeliterals.Gram) (typeliterals.Gram, typeliterals.Gram, func() error) {
	h.Add("Weigh", a, b, c, p)
	return a + b + c, *p, nil
}

func TestHasher(t *testing.T) {
	var next hasher
	h := typeliterals.NewRateLimitedHasher(&next, limittest.Limiter(t))

	in, pad := [4][3]byte{{1}, {2}}, [2]int{3, 4}
	limittest.Admits(t, 2, "typeliterals.Hasher.Sum", func() error {
		sum, err := h.Sum(in, pad)
		if (sum == [32]byte{1}) != (err == nil) {
			t.Errorf("Sum: got %v, %v", sum, err)
		}
		return err
	})
	next.Want(t, 2, "Sum", in, pad)

	limittest.Admits(t, 2, "typeliterals.Hasher.Wide", func() error { return h.Wide([127]string{"a"}, [3]bool{true}) })
	next.Want(t, 4, "Wide", [127]string{"a"}, [3]bool{true})

	limittest.Admits(t, 2, "typeliterals.Hasher.Tag", func() error {
		_, p, err := h.Tag(row{ID: 1})
		if err == nil && p != unsafe.Pointer(&next) || err != nil && p != nil {
			t.Errorf("Tag: got %v, %v", p, err)
		}
		return err
	})
	next.Want(t, 6, "Tag", row{ID: 1})

	var by named
	limittest.Admits(t, 2, "typeliterals.Hasher.Sort", func() error {
		done, err := h.Sort(by, nil, nil)
		if (done == nil) != (err != nil) {
			t.Errorf("Sort: got %v, %v", done, err)
		}
		return err
	})
	next.Want(t, 8, "Sort", by, []option{nil, nil})

	tare := typeliterals.Gram(5)
	if total, got, _ := h.Weigh(1, 2, 3, &tare); total != 6 || got != 5 {
		t.Errorf("Weigh: got %v, %v", total, got)
	}
	next.Want(t, 9, "Weigh", typeliterals.Gram(1), typeliterals.Gram(2), typeliterals.Gram(3), &tare)
}
