package ratelimit

import (
	"context"
	"fmt"
	"time"
)

// unused is how many units are to be given back, and to how many buckets.
type unused struct{ units, buckets int64 }

func (u *unused) add(more unused, times int64) {
	u.units, u.buckets = u.units+times*more.units, u.buckets+times*more.buckets
}

func unitsOf(back []Charge) unused {
	u := unused{buckets: int64(len(back))}
	for i := range back {
		u.units += back[i].Cost
	}
	return u
}

// notGivenBack returns the error of units that the store has perhaps not taken back.
func (u unused) notGivenBack(err error) error {
	return fmt.Errorf("ratelimit: unused units not given back: %d, of %d buckets: %w", u.units, u.buckets, err)
}

// pack takes away what is given back next, of a shelf and those behind it, and returns where there may be more. Until it has
// arrived, it counts as lying here.
func (s *stock) pack(shelf int, since time.Duration) (back []Charge, next int) {
	s.packing.Lock()
	defer s.packing.Unlock()
	for ; shelf < stockShelves; shelf++ {
		if back = s.clear(&s.shelves[shelf], since, back); len(back) == maxGivenBack {
			break
		}
	}
	s.sendOff(back)
	return back, shelf
}

// packOthers is pack for what lies here of the buckets that have refused a call, by other limits than those of the call.
func (s *stock) packOthers(charges []Charge, results []Result) (back []Charge) {
	s.packing.Lock()
	defer s.packing.Unlock()
	for i := range charges {
		if !results[i].Allowed && charges[i].stocked() {
			back = s.takeOthers(&charges[i], back)
		}
	}
	s.sendOff(back)
	return back
}

// sendOff notes that what was packed is on its way. The lock of packing is held.
func (s *stock) sendOff(back []Charge) {
	if len(back) > 0 && s.packed.buckets == 0 {
		s.allArrived = make(chan struct{})
	}
	s.packed.add(unitsOf(back), 1)
}

// arrived notes that what was packed is on its way no longer.
func (s *stock) arrived(back []Charge) {
	s.packing.Lock()
	defer s.packing.Unlock()
	if s.packed.add(unitsOf(back), -1); s.packed.buckets == 0 {
		close(s.allArrived)
	}
}

// untilArrived waits until nothing is on its way any more of what is now, by whomever it was sent. If ctx ends first, it
// returns the error of what is not given back.
func (s *stock) untilArrived(ctx context.Context) error {
	s.packing.Lock()
	all, empty := s.allArrived, s.packed.buckets == 0
	s.packing.Unlock()
	if empty {
		return nil
	}
	select {
	case <-all:
	case <-ctx.Done():
		if left := s.lying(); left.buckets > 0 {
			return left.notGivenBack(ctx.Err())
		}
	}
	return nil
}

// lying returns what lies here, with what is on its way back.
func (s *stock) lying() unused {
	s.packing.Lock()
	defer s.packing.Unlock()
	u := s.packed
	for i := range s.shelves {
		sh := &s.shelves[i]
		sh.mu.Lock()
		for _, p := range sh.piles {
			if p.expire(s.now()); p.units > 0 {
				u.add(unused{p.units, 1}, 1)
			}
		}
		sh.mu.Unlock()
	}
	return u
}
