package memlimit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// naiveRoom is what room should be: a list of what is kept, looked through from its start.
type naiveRoom struct {
	size    int
	kept    map[string]naivePlace
	uses    int
	evicted uint64
}

type naivePlace struct {
	used     int // the how many-th use it was
	standing standing
	expires  int64
}

func (n *naiveRoom) live(now int64) map[string]naivePlace {
	maps.DeleteFunc(n.kept, func(_ string, p naivePlace) bool { return p.expires <= now })
	return n.kept
}

func (n *naiveRoom) makeRoom(call []ratelimit.Charge, now int64) {
	if len(n.live(now)) < n.size {
		return
	}
	n.evicted++
	victim := ""
	for key, p := range n.kept {
		if slices.ContainsFunc(call, func(c ratelimit.Charge) bool { return string(c.Key) == key }) {
			continue
		}
		v, ok := n.kept[victim]
		if !ok || cmp.Or(cmp.Compare(p.standing, v.standing), cmp.Compare(p.used, v.used)) < 0 {
			victim = key
		}
	}
	delete(n.kept, victim)
}

func TestRoomAgreesWithAList(t *testing.T) {
	limits := []ratelimit.Limit{
		{Count: 2, Period: time.Second},
		{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Second},
		{Algorithm: ratelimit.SlidingLog, Count: 3, Period: 2 * time.Second},
		{Algorithm: ratelimit.Concurrency, Count: 2, Period: 3 * time.Second},
	}
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			naive := &naiveRoom{size: 3 + random.IntN(10), kept: map[string]naivePlace{}}
			store := New(MaxKeys(naive.size))
			for i := range 400 {
				time.Sleep(time.Duration(random.Int64N(300)) * ms)
				now := time.Now().UnixMicro()
				var charges []ratelimit.Charge
				for _, k := range random.Perm(16)[:1+random.IntN(2)] {
					c := one(fmt.Sprintf("%x", k), limits[k%len(limits)], int64(random.IntN(3)))[0]
					c.Holder = string(rune('a' + random.IntN(2)))
					charges = append(charges, c)
				}
				if random.IntN(5) == 0 {
					naive.refund(t, store, charges, now)
				} else {
					naive.take(t, store, charges, now)
				}
				if got, want := kept(store), slices.Sorted(maps.Keys(naive.live(now))); !slices.Equal(got, want) {
					t.Fatalf("seed %d, call %d: kept %v: want %v", seed, i, got, want)
				}
				if store.Evicted() != naive.evicted {
					t.Fatalf("seed %d, call %d: %d evicted: want %d", seed, i, store.Evicted(), naive.evicted)
				}
				if n := store.Len(); n > naive.size {
					t.Fatalf("seed %d, call %d: %d buckets: want at most %d", seed, i, n, naive.size)
				}
				checkRoom(t, &store.shards[0])
			}
		})
	}
}

func (n *naiveRoom) take(t *testing.T, store *Store, charges []ratelimit.Charge, now int64) {
	// Those that are there come first, though they may have expired. Whether they have been swept does not show otherwise.
	slices.SortStableFunc(charges, func(c, d ratelimit.Charge) int { return cmp.Compare(there(store, d), there(store, c)) })
	results := make([]ratelimit.Result, len(charges))
	if err := store.Take(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	refused := slices.ContainsFunc(results, func(r ratelimit.Result) bool { return !r.Allowed })
	n.live(now)
	for i, c := range charges {
		_, known := n.kept[string(c.Key)]
		if !known && !refused && c.Cost > 0 {
			n.makeRoom(charges, now)
		} else if !known {
			continue
		}
		n.note(c, results[i], now)
	}
}

func there(store *Store, c ratelimit.Charge) int {
	if at, _ := store.shards[0].find(uint32(store.hash(&c)>>32), &c); at != 0 {
		return 1
	}
	return 0
}

func (n *naiveRoom) refund(t *testing.T, store *Store, charges []ratelimit.Charge, now int64) {
	if err := store.Refund(t.Context(), charges); err != nil && !errors.Is(err, ratelimit.ErrLeaseLost) {
		t.Fatal(err)
	}
	n.live(now)
	for _, c := range charges {
		if _, known := n.kept[string(c.Key)]; known && c.Cost > 0 {
			c.Cost = 0
			n.note(c, peek(t, store, []ratelimit.Charge{c}), now)
		}
	}
}

// note takes down how a bucket was left.
func (n *naiveRoom) note(c ratelimit.Charge, r ratelimit.Result, now int64) {
	n.uses++
	p := naivePlace{used: n.uses, expires: now + r.ResetAfter.Microseconds()}
	switch {
	case c.Limit.Algorithm == ratelimit.Concurrency && r.Remaining < r.Limit:
		p.standing = held
	case !r.Allowed && r.RetryAfter != ratelimit.Never || r.Remaining == 0:
		p.standing = limited
	}
	n.kept[string(c.Key)] = p
}

// checkRoom checks that each record has its place, once in the heap and once in a queue.
func checkRoom(t *testing.T, s *shard) {
	t.Helper()
	checkShard(t, s)
	if int(s.room.due.len) != s.len {
		t.Fatalf("%d records, %d in the heap", s.len, s.room.due.len)
	}
	queued := 0
	for i, q := range s.room.queues {
		before := ref(0)
		for at := q.first; at != 0; at = s.place(at).next {
			queued++
			p := s.place(at)
			parent := s.place(*s.room.due.at(uint(max(0, p.due-1) / 2)))
			if p.standing != standing(i) || p.prev != before || *s.room.due.at(uint(p.due)) != at || parent.expires > p.expires || p.expires > s.record(at).expires() {
				t.Fatalf("the place of %q is not in order", s.record(at).name())
			}
			before = at
		}
		if q.last != before {
			t.Fatalf("queue %d does not end where it should", i)
		}
	}
	if queued != s.len {
		t.Fatalf("%d records, %d of them in queues", s.len, queued)
	}
}
