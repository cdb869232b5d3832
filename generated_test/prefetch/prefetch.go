// Package prefetch has limits whose units are taken from the store several at once.
package prefetch

import "context"

type Feed interface {
	// Read is called so often that not each call should go to the store.
	//
	//ratelimit:rate=100000/h ip prefetch=100
	Read(ctx context.Context, id string) (string, error)
	//ratelimit:rate=50/h algorithm=fixed-window cost={len(ids)} refund={err != nil} prefetch=10
	ReadAll(ctx context.Context, ids []string) error
	//ratelimit:count=10 time=1h algorithm=leaky-bucket prefetch=4
	//ratelimit:count=1000 time=1d
	Write(ctx context.Context, text string) error
}
