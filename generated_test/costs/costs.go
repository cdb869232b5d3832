// Package costs has calls that take more or less.
package costs

import "context"

const heavy = 4

type Units uint32

type Switch struct {
	Flag
	Next *Switch
}

type Batch struct{ Items []string }

func (b Batch) Size() int64 { return int64(len(b.Items)) }

// Flag is not a bool to the type checker.
type Flag bool

type Export interface {
	//ratelimit:count=1 time=1h skip={flag} refund={ret0}
	//ratelimit:count=2 time=1d skip={flag && !b.Flag || b.Flag && flag && b.Next.Flag} refund={!(ret0 || b.Next.Flag)}
	Flags(ctx context.Context, flag Flag, b *Switch) (Flag, error)
	//ratelimit:count=5 time=1h cost={len(ids)}
	Many(ctx context.Context, ids ...string) error
	//ratelimit:count=5 time=1h cost={b.Size()}
	//ratelimit:count=9 time=1d cost={b.Size()} burst=5
	Batch(ctx context.Context, b Batch) error
	//ratelimit:count=5 time=1h cost={heavy}
	//ratelimit:count=9 time=1d cost={heavy}
	Constant(ctx context.Context) error
	//ratelimit:count=5 time=1h cost={units} refill=interval skip={units > 5}
	Named(ctx context.Context, units Units) error
	//ratelimit:count=5 time=1h cost={n}
	Negative(ctx context.Context, n int) error
	//ratelimit:count=5 time=1h cost={n} fail=open
	Huge(ctx context.Context, n uint64) error
	//ratelimit:count=5 time=1h cost={min}
	//ratelimit:count=7 time=1d cost={min}
	Word(ctx context.Context, min uint) error
	//ratelimit:count=5 time=1h skip={ctx.Err() != nil || n == 7}
	//ratelimit:count=2 time=1d skip={n == 7}
	//ratelimit:count=3 time=7d skip={ n==7 }
	Skips(ctx context.Context, n int) error
}
