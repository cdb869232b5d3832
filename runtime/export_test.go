package ratelimit

// Stocked returns how many units of a charge's bucket lie in the Limiter.
func (l *Limiter) Stocked(c Charge) int64 {
	c.prefetch = 1
	return l.stock.here(&c)
}

// Piles returns for how many buckets there are units in the Limiter, or were just now.
func (l *Limiter) Piles() int { return int(l.stock.piles.Load()) }
