package memlimit

import (
	"slices"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// visit is one charge of a call on its bucket. Its shard is locked while it is open.
type visit struct {
	charge *ratelimit.Charge
	limit  limit
	shard  *shard
	hash   uint32
	at     ref    // 0 if there is no record of the bucket
	record record // until one is added or removed
	bucket bucket // as it stands at the time of the call
	retry  int64  // see bucket.decide
	delay  int64  // see bucket.decide
	reset  int64  // see bucket.reset
}

// visitsOf appends a visit for each charge to visits, which is empty.
func visitsOf(charges []ratelimit.Charge, visits []visit) []visit {
	visits = slices.Grow(visits, len(charges))
	for i := range charges {
		c := &charges[i]
		visits = append(visits, visit{charge: c, limit: limitOf(&c.Limit)})
		visits[i].limit.patience = c.Wait.Microseconds()
	}
	return visits
}

// open looks the bucket up.
func (v *visit) open(now int64) {
	v.bucket = bucket{mark: now}
	v.at, v.record = v.shard.find(v.hash, v.charge)
	if v.at == 0 || v.record.expires() <= now {
		// One that has expired and has not been swept is as new whatever the limit is now. In Redis it would be gone.
		return
	}
	v.bucket = v.shard.bucket(v.at, v.record, &v.limit).at(now, &v.limit)
}

// decide looks the bucket up and asks it.
func (v *visit) decide(now int64) {
	v.open(now)
	v.retry, v.delay = v.bucket.decide(v.charge, now, &v.limit)
}

// refund gives the charge back, and returns false if there is nothing that its holder could give back.
func (v *visit) refund(now int64) (held bool) {
	v.bucket, held = v.bucket.refunded(v.charge, now, &v.limit)
	return held
}

// save keeps the bucket as it now stands, until it is as new.
func (v *visit) save(now int64) {
	v.shard.save(v.at, v.record, v.bucket.kept(now, &v.limit), &v.limit)
	v.record.setExpires(now + v.reset)
}

// touch notes that the bucket was used, and how it was left, where that matters.
func (v *visit) touch() {
	if v.shard.room != nil && v.at != 0 {
		v.shard.rank(v.at, v.bucket.standing(v.retry, &v.limit), v.record.expires())
	}
}

func (v *visit) remove() {
	if v.at != 0 {
		v.shard.remove(v.at)
	}
}

func (v *visit) tell(r *ratelimit.Result, now int64) {
	v.bucket.tell(r, v.retry, v.delay, v.reset, now, &v.limit)
}

// addMissing makes the buckets that a call is the first to charge. Its others have been saved, so that none of them has
// expired and would have to make room.
func addMissing(visits []visit, now int64) {
	for i := range visits {
		v := &visits[i]
		if v.at != 0 || v.charge.Cost == 0 {
			continue
		}
		if v.shard.room != nil {
			v.shard.makeRoom(visits, now)
		}
		v.at = v.shard.add(v.hash, v.charge)
		v.record = v.shard.record(v.at)
		if v.shard.room != nil {
			v.shard.enter(v.at, now+v.reset)
		}
		v.save(now)
		v.touch()
	}
}
