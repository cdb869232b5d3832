// Package returns has limits that share buckets with others, by which units come back before their time.
package returns

import "context"

type Account interface {
	// Login counts failures only, whichever way they come.
	//
	//ratelimit:key=enter:{name} count=3 time=1h refund={err == nil}
	Login(ctx context.Context, name string) error
	//ratelimit:key=enter:{user} count=3 time=1h
	Reset(ctx context.Context, user string) error
	// Import gives back what it took of both limits when it gives up waiting for one.
	//
	//ratelimit:key=import count=10 time=1h
	//ratelimit:count=1 time=1s wait=1s
	Import(ctx context.Context) error
	//ratelimit:key=import count=10 time=1h
	Export(ctx context.Context) error
	// Own gives back what is nobody else's.
	//
	//ratelimit:count=3 time=1h refund={err != nil}
	Own(ctx context.Context) error
	// Slots gives back of one limit, and holds slots.
	//
	//ratelimit:name=slots count=2 algorithm=concurrency
	//ratelimit:name=all count=100 time=1h
	//ratelimit:name=failures count=3 time=1h refund={err == nil}
	Slots(ctx context.Context) error
}
