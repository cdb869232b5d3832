package ratelimit

// Stocked returns how many units of a charge's bucket lie in the Limiter.
func (l *Limiter) Stocked(c Charge) int64 {
	c.prefetch = 1
	return l.stock.here(&c)
}
