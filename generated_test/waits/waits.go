// Package waits has limits that wait for a place before they refuse.
package waits

import "context"

type Queue interface {
	//ratelimit:count=1 time=10s wait=15s
	Push(ctx context.Context, id string) error
	//ratelimit:key=drain:{id} rate=1/10s algorithm=leaky-bucket wait=1m30s
	Drain(ctx context.Context, id string) error
	//ratelimit:count=1 time=10s algorithm=fixed-window wait=10s
	Window(ctx context.Context) error
	//ratelimit:count=1 algorithm=concurrency wait=5s
	Slot(ctx context.Context) error
}
