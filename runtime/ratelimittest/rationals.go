package ratelimittest

import "math/big"

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func sum(a, b *big.Rat) *big.Rat     { return new(big.Rat).Add(a, b) }
func minus(a, b *big.Rat) *big.Rat   { return new(big.Rat).Sub(a, b) }
func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func most(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// ceil returns a number, rounded up.
func ceil(r *big.Rat) int64 {
	up := new(big.Int).Sub(r.Denom(), big.NewInt(1))
	return new(big.Int).Div(up.Add(up, r.Num()), r.Denom()).Int64()
}

// floor returns a number, rounded down.
func floor(r *big.Rat) int64 { return -ceil(new(big.Rat).Neg(r)) }
