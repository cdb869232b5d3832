// Package leakybucket has leaky buckets, with a burst and without.
package leakybucket

import "context"

type Pump interface {
	//ratelimit:count=2 time=1s burst=3 algorithm=leaky-bucket
	Stroke(ctx context.Context) error
	//ratelimit:rate=1/m algorithm=leaky-bucket
	Prime(ctx context.Context) error
}
