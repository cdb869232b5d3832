package dashboard

import (
	"context"
	"fmt"
	"slices"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// settling is how long a change may take to hold: a source is looked at twice a second, and may take a while to answer.
	settling = 1500 * time.Millisecond
	// settlingStep is how often it is looked whether it does.
	settlingStep = 50 * time.Millisecond
)

// await waits until a change holds, settling at most, and returns what other says holds in its place, empty once it is the
// change itself.
func await(ctx context.Context, other func() string) string {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	step := time.NewTicker(settlingStep)
	defer step.Stop()
	for {
		holds := other()
		if holds == "" {
			return ""
		}
		select {
		case <-step.C:
		case <-ctx.Done():
			return holds
		}
	}
}

// otherRule says what holds for a limit unless that is an override, or with nil its directive. A limit that there is not has
// nothing that could hold.
func otherRule(l *ratelimit.Limiter, id string, o *ratelimit.Override) string {
	info, ok := limitOf(l, id)
	if !ok {
		return ""
	}
	want, ok := alone(l.Mode(), info, o)
	holds := showRule(&info.Holds)
	switch {
	case !ok || holds == showRule(&want.Holds) && info.Callers == want.Callers:
		return ""
	case info.Callers > 0:
		return fmt.Sprintf("%s holds, and something else for some callers", holds)
	}
	return holds.String() + " holds"
}

// otherMode says which mode the whole Limiter has unless it is m. What it is without an override, it does not tell.
func otherMode(l *ratelimit.Limiter, m *ratelimit.Mode) string {
	if l == nil || m == nil || l.Mode() == *m {
		return ""
	}
	return fmt.Sprintf("the mode of all is %s", l.Mode())
}

// limitOf returns what a Limiter tells of a limit.
func limitOf(l *ratelimit.Limiter, id string) (ratelimit.LimitInfo, bool) {
	all := l.Limits()
	i := slices.IndexFunc(all, func(info ratelimit.LimitInfo) bool { return info.ID == id })
	if i < 0 {
		return ratelimit.LimitInfo{}, false
	}
	return all[i], true
}

// alone returns how a limit would hold if nothing but o overrode it. A Limiter of its own, which decides nothing, knows that.
func alone(mode ratelimit.Mode, info ratelimit.LimitInfo, o *ratelimit.Override) (ratelimit.LimitInfo, bool) {
	l, err := ratelimit.New(noStore{}, ratelimit.WithMode(mode), ratelimit.Observe())
	if err != nil {
		return ratelimit.LimitInfo{}, false
	}
	l.Guard(info.Method, info.Rule)
	if err := l.Override(&ratelimit.Overrides{Limits: map[string]*ratelimit.Override{info.ID: o}}); err != nil {
		return ratelimit.LimitInfo{}, false
	}
	return limitOf(l, info.ID)
}

// noStore is asked nothing.
type noStore struct{ ratelimit.Store }
