package ratelimit

import "context"

// Stocked returns how many units of a charge's bucket lie in the Limiter.
func (l *Limiter) Stocked(c Charge) int64 {
	c.prefetch = 1
	return l.stock.here(&c)
}

// Piles returns for how many buckets there are units in the Limiter, or were just now.
func (l *Limiter) Piles() int { return int(l.stock.piles.Load()) }

// TakeStocked decides one charge as one of a rule with that prefetch.
func (l *Limiter) TakeStocked(ctx context.Context, charges []Charge, results []Result, prefetch int64) error {
	charges[0].prefetch = prefetch
	return l.stock.Take(ctx, charges, results)
}

// Watches returns how many sources the Limiter goes by, or looks at.
func (l *Limiter) Watches() int {
	l.overriding.mu.Lock()
	defer l.overriding.mu.Unlock()
	return len(l.overriding.watches)
}
