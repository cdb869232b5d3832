package ratelimit

import (
	"context"
	"runtime"
	"weak"
)

// outageWatcher is a [Store] that tells when it is away.
type outageWatcher interface {
	WatchOutages(report func(server string, away bool, err error)) (stop func())
}

// watchOutages has the observers told what the store tells of outages, for as long as the Limiter is in use: a store may
// outlive many.
func (l *Limiter) watchOutages(store outageWatcher) {
	watching := weak.Make(l)
	stop := store.WatchOutages(func(server string, away bool, err error) {
		if l := watching.Value(); l != nil {
			l.tell(context.Background(), &Event{Kind: EventOutage, Server: server, Away: away, Err: err})
		}
	})
	runtime.AddCleanup(l, func(stop func()) { stop() }, stop)
}
