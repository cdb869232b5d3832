package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// verdict prints what was promised and what came of it, and returns an error unless all was kept.
func (r *report) verdict() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Since(r.began)
	kept := true
	promise := func(ok bool, format string, args ...any) {
		word := "kept  "
		if !ok {
			word, kept = "BROKEN", false
		}
		fmt.Fprintf(r.out, "%s  %s\n", word, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(r.out, `
A bucket may admit what it holds when it is full, and what it gets. Those of a user are the one in Redis, as long as it has
a server; the one of the new primary, which is full at most, whatever the old one had not told it yet; and one in each
process, of a third, while that decides by itself.

`)

	var lived []*account
	for _, a := range r.accounts {
		if a.lost == 0 {
			lived = append(lived, a)
			continue
		}
		promise(a.left(now) >= 0, "%s: admitted %d of at most %d = %s", a.user, a.admitted, a.most(now), a.explain(now))
	}
	a := slices.MinFunc(lived, func(a, b *account) int { return cmp.Compare(a.left(now), b.left(now)) })
	promise(a.left(now) >= 0, "%d users whose primaries lived: %s, closest to its limit, admitted %d of at most %d = %s",
		len(lived), a.user, a.admitted, a.most(now), a.explain(now))

	undecided, failed := r.all.of(undecided), r.all.of(failed)
	promise(undecided+failed == 0, "every call got a decision: of %d, %d were undecided and %d failed", len(r.took), undecided, failed)
	for _, err := range r.errs {
		fmt.Fprintf(r.out, "        %v\n", err)
	}
	o := &r.outage
	promise(!slices.Contains(o.alone[:], 0) && !slices.Contains(o.again[:], 0),
		"the processes decided by themselves from %v after the kill on, and %v after it Redis decided again",
		since(o.began, slices.Min(o.alone[:])), since(o.began, slices.Max(o.again[:])))

	slices.Sort(r.took)
	fmt.Fprintf(r.out, "\nHalf of the calls took up to %v, 99 of 100 up to %v, the slowest %v.\n",
		r.percentile(50), r.percentile(99), r.percentile(100))
	if !kept {
		return errors.New("not all promises were kept")
	}
	return nil
}

// left returns how many more calls could have been admitted.
func (a *account) left(now time.Duration) int { return a.most(now) - a.admitted }

// explain says what [account.most] is the sum of.
func (a *account) explain(now time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d + %d/s × %.2f s", burst, rate, (now - a.gone(now)).Seconds())
	if a.again > 0 {
		fmt.Fprintf(&b, " + %d of the new primary", burst)
	}
	for p, spans := range a.local {
		for _, s := range spans {
			fmt.Fprintf(&b, " + %s: %d + %d/s × %.2f s", processName(p), shareBurst, shareRate, s.length().Seconds())
		}
	}
	return b.String()
}

// since returns the time between two events, in a precision that means something.
func since(from, to time.Duration) time.Duration { return (to - from).Round(10 * time.Millisecond) }

// percentile returns how long n of 100 calls took at most. They must be sorted.
func (r *report) percentile(n int) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	return r.took[(len(r.took)-1)*n/100].Round(100 * time.Microsecond)
}
