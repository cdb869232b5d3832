package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// row is a piece of work, done in turns by all that are compared in it.
type row struct {
	id     string
	models string // what is done
	why    string // the reason, shown where a goal is missed
	floor  string // the name of the entry that does the least that is needed, if there is one
	rounds int    // how often at most; 0: as often as the flag says
	long   bool   // whether it takes minutes, and is left to a full run

	entries []entry // of which the first is ours
	goals   []goal
}

// entry is one of those that are compared.
type entry struct {
	name string
	slow int // how many times as long a round is, since calls take long; there are as many fewer
	// start sets up what is measured, which ends with t. A round measures for about as long as its turn says.
	start func(ctx context.Context, t testing.TB) round
}

type round func(ctx context.Context, turn turn) (sample, error)

// sample is what one round has measured.
type sample map[metric]float64

// metric is what is measured, with its unit.
type metric string

const (
	nanoseconds  metric = "ns a decision"
	rate         metric = "decisions a second"
	p50          metric = "p50, µs"
	p99          metric = "p99, µs"
	p9999        metric = "p99.99, µs"
	longest      metric = "longest, µs"
	clockP9999   metric = "clock: p99.99, µs"
	clockLongest metric = "clock: longest, µs"
	serverCPU    metric = "server CPU, µs a decision"
	scripts      metric = "scripts a decision"
	mallocs      metric = "allocations a decision"
	bytesPerKey  metric = "bytes a key"
	bytesEach    metric = "bytes an entry"
	bytesLeft    metric = "% of the bytes left after all expired"
)

// metrics are all of them, in the order of a table's columns.
var metrics = []metric{nanoseconds, rate, p50, p99, p9999, longest, clockP9999, clockLongest, serverCPU, scripts, mallocs, bytesPerKey, bytesEach, bytesLeft}

// goal is a bound for what is measured of an entry.
type goal struct {
	metric metric
	entry  string // empty: the row's first
	than   string // the entry that it is divided by; empty: none
	minus  bool   // than is subtracted instead
	least  bool   // whether more is better
	bound  float64
}

func atMost(bound float64, m metric, than string) goal {
	return goal{metric: m, than: than, bound: bound}
}

func faster(bound float64, than string) goal {
	return goal{metric: rate, than: than, bound: bound, least: true}
}

// of makes the goal one of another entry than the row's first.
func (g goal) of(entry string) goal {
	g.entry = entry
	return g
}

// String returns the goal as the report has it.
func (g goal) String() string {
	if g.least {
		return "≥ " + g.figure(g.bound)
	}
	return "≤ " + g.figure(g.bound)
}

// figure returns a figure as the report has it.
func (g goal) figure(f float64) string {
	switch {
	case g.minus:
		return "+ " + number(f)
	case g.than != "":
		return number(f) + " ×"
	}
	return number(f)
}

// met is the verdict on a figure within the bound.
const met = "met"

// verdict says whether a figure is within the bound, or by which factor it is not.
func (g goal) verdict(figure float64) string {
	switch {
	case g.least && figure < g.bound:
		return fmt.Sprintf("**short by %s ×**", number(g.bound/figure))
	case !g.least && figure > g.bound && g.bound > 0:
		return fmt.Sprintf("**short by %s ×**", number(figure/g.bound))
	case !g.least && figure > g.bound:
		return fmt.Sprintf("**short by %s**", number(figure))
	}
	return met
}

// results are the samples of a row, by its entries and then by round.
type results map[string][]sample

// measure runs the entries of a row in turns, so that they share what else the machine has to do.
func (r *row) measure(ctx context.Context, t testing.TB, rounds int, d time.Duration) results {
	all := results{}
	run := make([]round, len(r.entries))
	slow := 1
	for i, e := range r.entries {
		run[i] = e.start(ctx, t)
		slow = max(slow, e.slow)
	}
	turn := turn{max(1, rounds/slow), d * time.Duration(slow)}
	if r.rounds > 0 {
		turn.rounds = min(turn.rounds, r.rounds)
	}
	for range turn.rounds {
		for i, e := range r.entries {
			s, err := run[i](ctx, turn)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", r.id, e.name, err)
			}
			all[e.name] = append(all[e.name], s)
		}
	}
	return all
}

// median returns the median of a metric of an entry, and whether it was measured.
func (r results) median(entry string, m metric) (float64, bool) {
	return medianOf(r[entry], func(_ int, s sample) (float64, bool) {
		v, ok := s[m]
		return v, ok
	})
}

// figure returns the figure of a goal, which is the median of those of all rounds, and whether it was measured.
func (r results) figure(g goal) (float64, bool) {
	return medianOf(r[g.entry], func(i int, s sample) (float64, bool) {
		v, ok := s[g.metric]
		if g.than == "" || !ok {
			return v, ok
		}
		other, ok := r[g.than][i][g.metric]
		if g.minus {
			return v - other, ok
		}
		return v / other, ok
	})
}

func medianOf(samples []sample, of func(int, sample) (float64, bool)) (float64, bool) {
	var list []float64
	for i, s := range samples {
		if v, ok := of(i, s); ok {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	slices.Sort(list)
	return (list[len(list)/2] + list[(len(list)-1)/2]) / 2, true
}
