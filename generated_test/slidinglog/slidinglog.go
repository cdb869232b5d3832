// Package slidinglog has limits that keep the time of each call.
package slidinglog

import "context"

type Mail interface {
	//ratelimit:count=2 time=10s algorithm=sliding-log
	Send(ctx context.Context, to string) error
	//ratelimit:key=bulk count=5 time=1h algorithm=sliding-log cost={len(to)} refund={err != nil}
	Bulk(ctx context.Context, to ...string) error
}
