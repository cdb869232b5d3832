package importnames_test

import (
	"context"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/importnames"
	"github.com/ratelimitgen/ratelimitgen/generated_test/importnames/parcel"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type carrier struct{ limittest.Calls }

func (c *carrier) Track(no string) ([]parcel.Box, error) {
	c.Add("Track", no)
	return []parcel.Box{{Kg: 1}}, nil
}

func (c *carrier) Weigh(no string) (parcel.Receipt, error) {
	c.Add("Weigh", no)
	return parcel.Receipt{No: no}, nil
}

func (c *carrier) Ship(_ context.Context, box *parcel.Box) (*parcel.Receipt, error) {
	c.Add("Ship", box)
	return &parcel.Receipt{No: "1"}, nil
}

func (c *carrier) Drop(box parcel.Box) (parcel.Receipt, [2]parcel.Box, error) {
	c.Add("Drop", box)
	return parcel.Receipt{No: "2"}, [2]parcel.Box{{Kg: 2}, box}, nil
}

func (c *carrier) Wait(a string, b time.Duration, d bool) error {
	c.Add("Wait", a, b, d)
	return nil
}

// U06
func TestCarrier(t *testing.T) {
	var next carrier
	c := importnames.NewRateLimitedCarrier(&next, limittest.Limiter(t))
	box := &parcel.Box{Kg: 5}

	limittest.Admits(t, 2, "importnames.Carrier.Ship", func() error {
		receipt, err := c.Ship(t.Context(), box)
		if (receipt == nil) != (err != nil) || receipt != nil && receipt.No != "1" {
			t.Errorf("Ship: got %v, %v", receipt, err)
		}
		return err
	})
	next.Want(t, 2, "Ship", box)

	limittest.Admits(t, 2, "importnames.Carrier.Drop", func() error {
		receipt, boxes, err := c.Drop(*box)
		if err == nil && (receipt.No != "2" || boxes != [2]parcel.Box{{Kg: 2}, {Kg: 5}}) {
			t.Errorf("Drop: got %v, %v", receipt, boxes)
		}
		if err != nil && (receipt != parcel.Receipt{} || boxes != [2]parcel.Box{}) {
			t.Errorf("Drop: got %v, %v with a refusal, want zero values", receipt, boxes)
		}
		return err
	})
	next.Want(t, 4, "Drop", *box)

	limittest.Admits(t, 2, "importnames.Carrier.Wait", func() error { return c.Wait("a", time.Second, true) })
	next.Want(t, 6, "Wait", "a", time.Second, true)

	limittest.Admits(t, 2, "importnames.Carrier.Track", func() error {
		_, err := c.Track("a")
		return err
	})
	limittest.Admits(t, 2, "importnames.Carrier.Weigh", func() error {
		_, err := c.Weigh("b")
		return err
	})
	next.Want(t, 10, "Weigh", "b")
}
