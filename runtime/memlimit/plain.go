package memlimit

import ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"

// plain returns the limit of a call that is like most: of one bucket, nobody waits or holds anything, and nothing about it
// needs a check. Otherwise it returns nil.
func (s *Store) plain(charges []ratelimit.Charge, results []ratelimit.Result) *limit {
	if len(charges) != 1 || len(results) != 1 || s.share == 0 {
		return nil
	}
	c := &charges[0]
	if c.Cost < 0 || c.Wait != 0 || c.Taken != 0 || c.Delay != 0 || c.Holder != "" || c.Limit.Algorithm == ratelimit.Concurrency {
		return nil
	}
	return s.known.find(&c.Limit)
}

// takePlain is take for a plain call, without what is for several: that would be half of its time.
func (s *Store) takePlain(c *ratelimit.Charge, l *limit, result *ratelimit.Result) {
	hash := s.hash(c)
	i := s.shardOf(hash)
	sh := &s.shards[i]
	now := s.now() // see lock
	sh.mu.Lock()
	now = sh.at(now)

	at, r := sh.find(uint32(hash>>32), c)
	b := bucket{mark: now}
	if at != 0 && now < r.expires() {
		b = sh.bucket(at, r, l).at(now, l)
	}
	var retry, delay int64
	if !b.has(c.Cost, l) {
		retry, delay = b.decide(c, now, l)
	}
	take := retry == 0 && c.Cost > 0
	if take {
		b = b.charged(c, now, l)
	}
	reset := b.reset(now, l)
	switch {
	case take && at == 0:
		sh.addPlain(uint32(hash>>32), c, b, now, l, reset)
	case at != 0:
		if take {
			sh.save(at, r, b.kept(now, l), l)
			r.setExpires(now + reset)
		} else if retry != 0 {
			r.extend(now + reset)
		}
		if sh.room != nil {
			sh.rank(at, b.standing(retry, l), r.expires())
		}
	}

	sweep := sh.owe(s.busy.Load() > 0)
	sh.mu.Unlock()
	if sweep > 0 {
		s.sweep(int(i), sweep, now)
	}
	b.tell(result, retry, delay, reset, now, l)
}

// addPlain makes the record of a plain call that is the first to charge its bucket.
func (s *shard) addPlain(hash uint32, c *ratelimit.Charge, b bucket, now int64, l *limit, reset int64) {
	addMissing([]visit{{charge: c, limit: *l, shard: s, hash: hash, bucket: b, reset: reset}}, now)
}
