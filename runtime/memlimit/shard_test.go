package memlimit

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// records returns those of a shard.
func records(s *shard) iter.Seq[record] {
	return func(yield func(record) bool) {
		for k := range s.slabs {
			for i := range s.slabs[k].records.len {
				if !yield(s.slabs[k].records.slice(i)) {
					return
				}
			}
		}
	}
}

// checkShard checks that each record is in its line, once, and that there are as many lines as there should be.
func checkShard(t *testing.T, s *shard) {
	t.Helper()
	n := 0
	for range records(s) {
		n++
	}
	linked := map[ref]bool{}
	for i := range s.lines.len {
		l := s.lines.at(i)
		for place, at := range l.refs {
			if at == 0 && l.tags[place] == noTag && l.more == 0 {
				continue
			}
			if at == 0 || l.tags[place] != tagOf(s.record(at).hash()) {
				t.Fatalf("line %d has tag %d for %d at place %d, and %d for which there is none", i, l.tags[place], at, place, l.more)
			}
			checkLinked(t, s, linked, at, i)
		}
		for at := l.more; at != 0; at = s.record(at).next() {
			checkLinked(t, s, linked, at, i)
		}
	}
	if n != s.len || len(linked) != s.len {
		t.Fatalf("%d records, %d in slabs, %d in lines", s.len, n, len(linked))
	}
	if n := s.lines.len; n*maxFill < uint(s.len) || n > 1 && n*minFill > uint(s.len) {
		t.Fatalf("%d lines for %d records", n, s.len)
	}
}

func checkLinked(t *testing.T, s *shard, linked map[ref]bool, at ref, line uint) {
	t.Helper()
	if linked[at] {
		t.Fatalf("%q is in line %d once more", s.record(at).name(), line)
	}
	linked[at] = true
	if want := s.line(s.record(at).hash()); line != want {
		t.Fatalf("%q is in line %d: want %d", s.record(at).name(), line, want)
	}
}

// A record stays what it is while others of all sizes come and go, whose last takes the place of one that leaves, and however
// their hashes meet.
func TestRecordsStayWhileOthersComeAndGo(t *testing.T) {
	store := New()
	for name, hash := range map[string]func(c *ratelimit.Charge) uint32{
		"hashes":              func(c *ratelimit.Charge) uint32 { return uint32(store.hash(c) >> 32) },
		"hashes of few tags":  func(c *ratelimit.Charge) uint32 { return uint32(store.hash(c)>>32) & 0x03ff_ffff },
		"hashes of few lines": func(c *ratelimit.Charge) uint32 { return uint32(store.hash(c)>>32) & 0xffff_f00f },
		"hashes of one line":  func(c *ratelimit.Charge) uint32 { return uint32(store.hash(c)>>32) & 0xffff_0000 },
		"few hashes":          func(c *ratelimit.Charge) uint32 { return uint32(store.hash(c)>>32) & 0xf000_000f },
		"one hash":            func(*ratelimit.Charge) uint32 { return 7 },
	} {
		t.Run(name, func(t *testing.T) { testRecordsStayWhileOthersComeAndGo(t, hash) })
	}
}

func testRecordsStayWhileOthersComeAndGo(t *testing.T, hashOf func(c *ratelimit.Charge) uint32) {
	const n = 2000
	algorithms := []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.SlidingLog, ratelimit.Concurrency}
	charge := func(i int) *ratelimit.Charge {
		return &ratelimit.Charge{
			Key:   []byte(strings.Repeat("k", i*i%400) + fmt.Sprint(i)),
			Name:  strings.Repeat("n", i%7*40),
			Limit: ratelimit.Limit{Algorithm: algorithms[i%len(algorithms)]},
		}
	}
	s := &shard{}
	s.init()
	hash := func(i int) uint32 { return hashOf(charge(i)) }
	random := rand.New(rand.NewPCG(1, 2))
	details := make([]*detail, n) // of those that are in
	in := make([]bool, n)
	for round, share := range []int{9, 5, 1, 9, 0} { // of ten that are in
		for _, i := range random.Perm(n) {
			switch stays := random.IntN(10) < share; {
			case stays && !in[i]:
				at := s.add(hash(i), charge(i))
				s.record(at).setBucket(bucket{used: int64(i), mark: -int64(i), part: 3 * int64(i)})
				s.record(at).setExpires(5 * int64(i))
				if detailed(charge(i).Limit.Algorithm) {
					details[i] = &detail{}
					*s.detail(at) = details[i]
				}
				in[i] = true
			case !stays && in[i]:
				at, _ := s.find(hash(i), charge(i))
				s.remove(at)
				in[i] = false
			}
		}
		checkShard(t, s)
		for i := range n {
			at, r := s.find(hash(i), charge(i))
			if (at != 0) != in[i] {
				t.Fatalf("round %d: found %d: %v", round, i, at != 0)
			}
			if at == 0 {
				continue
			}
			if b := r.bucket(); b.used != int64(i) || b.mark != -int64(i) || b.part != 3*int64(i) || r.expires() != 5*int64(i) {
				t.Fatalf("round %d: %d has become %+v", round, i, b)
			}
			if detailed(charge(i).Limit.Algorithm) && *s.detail(at) != details[i] {
				t.Fatalf("round %d: %d has the detail of another", round, i)
			}
		}
	}
	for k := range s.slabs {
		if p := s.slabs[k].records.pieces; len(p) > 1 || len(p) == 1 && len(p[0]) > maxKept {
			t.Errorf("an empty slab of kind %d keeps %d pieces, the first of %d bytes", k, len(p), len(p[0]))
		}
	}
	if len(s.lines.pieces) > 1 {
		t.Errorf("%d pieces of lines are left", len(s.lines.pieces))
	}
}

// The room of a record is that for its name, a quarter more, and a step at most.
func TestKindsHaveRoomForTheirRecords(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.LeakyBucket, ratelimit.SlidingLog} {
		var before kind
		for n := range 5000 {
			c := &ratelimit.Charge{Key: make([]byte, n), Name: "1s", Limit: ratelimit.Limit{Algorithm: algorithm}}
			k, size := kindOf(c), sizeOf(c)
			if k < before || int(k.size()) < size || int(k.size()) > max(minSteps*step, size*5/4+step) || k.detailed() != detailed(algorithm) {
				t.Fatalf("a record of %d bytes: kind %d with room for %d", size, k, k.size())
			}
			before = k
		}
	}
}

// Hashes that meet, whole or in part, do not make two buckets one.
func TestRecordsOfOneHash(t *testing.T) {
	s := &shard{}
	s.init()
	charges := []ratelimit.Charge{
		{Key: []byte("b"), Name: "a"},
		{Key: []byte("a"), Name: "b"},
		{Key: []byte("ab")},
		{Name: "ab"},
		{Key: []byte("a"), Name: "a"},
		{Key: []byte("b"), Name: "a", Limit: ratelimit.Limit{Algorithm: ratelimit.LeakyBucket}},
		{Key: []byte("b"), Name: strings.Repeat("a", 15)},
		{Key: []byte("b"), Name: strings.Repeat("a", 16)},
		{Key: []byte("b"), Name: strings.Repeat("a", 2048)},
		{},
	}
	for i := range charges {
		s.add(7, &charges[i])
	}
	for i := range charges {
		if at, r := s.find(7, &charges[i]); at == 0 || !r.is(7, &charges[i]) {
			t.Errorf("%+v is not found", charges[i])
		}
	}
	seen := map[ref]bool{}
	for i := range charges {
		at, _ := s.find(7, &charges[i])
		seen[at] = true
	}
	if len(seen) != len(charges) {
		t.Errorf("%d records for %d buckets", len(seen), len(charges))
	}
	checkShard(t, s)
}

// What a sweep has removed had expired for the calls that come after it, too, though they may have read the clock before.
func TestNoCallIsDecidedBeforeASweep(t *testing.T) {
	for _, room := range []*room{nil, newRoom(10)} {
		s := &shard{room: room}
		s.init()
		s.sweep(100)
		if now := s.at(99); now != 100 {
			t.Errorf("a call after a sweep at 100 is decided at %d", now)
		}
	}
}

// Records move to other memory as many come and go. The one that was found last goes with them.
func TestRecordThatWasFoundLastMoves(t *testing.T) {
	s := &shard{}
	s.init()
	key := func(i int) *ratelimit.Charge { return &ratelimit.Charge{Key: fmt.Append(nil, i), Name: "1s"} }
	second := refTo(s.add(7, key(0)).kind(), 1)
	changes := []func(i int){
		func(i int) { s.add(uint32(i), key(i)) },
		func(int) { s.remove(second) },
	}
	for _, change := range changes {
		for i := range 400 {
			_, found := s.find(7, key(0))
			change(i + 1)
			found.setExpires(-1) // where it was
			at, r := s.find(7, key(0))
			s.record(at).setExpires(int64(i))
			if r.expires() != int64(i) {
				t.Fatalf("%v is found where it was before", at)
			}
		}
	}
	checkShard(t, s)
}
