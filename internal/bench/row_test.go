package main

import (
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
)

// A round in which the machine was busy counts for both sides of a ratio, and for no more than one round.
func TestFiguresAreMediansOfPairs(t *testing.T) {
	got := results{
		"ours":   {{nanoseconds: 10}, {nanoseconds: 400}, {nanoseconds: 12}},
		"theirs": {{nanoseconds: 20}, {nanoseconds: 800}, {nanoseconds: 16}},
	}
	tests := []struct {
		goal   goal
		figure float64
	}{
		{atMost(1, nanoseconds, ""), 12},
		{atMost(1, nanoseconds, "theirs"), 0.5},
		{atMost(1, nanoseconds, "ours").of("theirs"), 2},
		{goal{metric: nanoseconds, than: "theirs", minus: true}, -10},
	}
	for _, test := range tests {
		if test.goal.entry == "" {
			test.goal.entry = "ours"
		}
		if figure, ok := got.figure(test.goal); figure != test.figure || !ok {
			t.Errorf("%+v: %v, %v: want %v", test.goal, figure, ok, test.figure)
		}
	}
	if _, ok := got.figure(atMost(1, p99, "").of("ours")); ok {
		t.Error("there is a figure of what was not measured")
	}
	got["two"] = []sample{{rate: 1}, {rate: 2}}
	if median, _ := got.median("two", rate); median != 1.5 {
		t.Errorf("the median of two is %v: want 1.5", median)
	}
}

func TestVerdicts(t *testing.T) {
	tests := []struct {
		goal    goal
		figure  float64
		text    string
		verdict string
	}{
		{atMost(0.8, nanoseconds, "x"), 0.8, "≤ 0.8 ×", "met"},
		{atMost(0.8, nanoseconds, "x"), 1.6, "≤ 0.8 ×", "**short by 2 ×**"},
		{faster(40, "x"), 40, "≥ 40 ×", "met"},
		{faster(40, "x"), 16, "≥ 40 ×", "**short by 2.5 ×**"},
		{atMost(0, mallocs, ""), 0, "≤ 0", "met"},
		{atMost(0, mallocs, ""), 3, "≤ 0", "**short by 3**"},
		{goal{metric: nanoseconds, than: "x", minus: true, bound: 1}, 0.4, "≤ + 1", "met"},
	}
	for _, test := range tests {
		if text, verdict := test.goal.String(), test.goal.verdict(test.figure); text != test.text || verdict != test.verdict {
			t.Errorf("%v: %q, %q: want %q, %q", test.figure, text, verdict, test.text, test.verdict)
		}
	}
}

// The reason why a goal is missed stood below rows that had met it.
func TestReasonStandsWhereAGoalIsMissed(t *testing.T) {
	w := row{
		id: "row", models: "work", why: "The reason.",
		entries: []entry{{name: "ours"}},
		goals:   []goal{atMost(10, nanoseconds, ""), atMost(0, mallocs, "")},
	}
	for took, want := range map[float64]string{
		10: "### row\n\nWork. Rounds: 1.\n\n| | ns a decision | allocations a decision |\n|---|--:|--:|\n| ours | 10 | 0 |\n",
		20: "### row\n\nWork. Rounds: 1.\n\n| | ns a decision | allocations a decision |\n|---|--:|--:|\n| ours | 20 | 0 |\n\nThe reason.\n",
	} {
		var page report
		page.add(t, w, results{"ours": {{nanoseconds: took, mallocs: 0}}})
		if got := page.sections[0]; got != want {
			t.Errorf("%v ns: %q: want %q", took, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 0.0714: "0.0714", 2.345: "2.35", 45.67: "45.7", 99.96: "100", 123.4: "123", 1234.5: "1,234", 10_000_000: "10,000,000", -1234: "-1,234", -123: "-123",
	} {
		if got := number(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}

// A quantile is at most 3 % above what was measured, and never below.
func TestQuantiles(t *testing.T) {
	var h, other histogram
	for i := range 50_000 {
		h.add(time.Duration(2*i+1) * time.Microsecond)
		other.add(time.Duration(2*i+2) * time.Microsecond)
	}
	h.merge(&other)
	for _, share := range []float64{0, 0.5, 0.99, 0.9999, 0.99999} {
		want := time.Duration(share*100_000+1) * time.Microsecond
		if got := h.quantile(share); got < want || got > want+want*4/100 {
			t.Errorf("quantile %v is %v: want %v", share, got, want)
		}
	}
	var small histogram
	small.add(7)
	for _, share := range []float64{0, 0.5, 1} {
		if got := small.quantile(share); got != 8 {
			t.Errorf("quantile %v of 7 ns is %d ns: want 8, which it is below", share, got)
		}
	}
}

// The order has each key once, from wherever a caller begins, and all keys differ.
func TestKeys(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000, 65_537} {
		keys, fresh := limiters.NewKeys(n), limiters.FreshKeys(n)
		seen, texts := map[int]bool{}, map[string]bool{}
		for i, key := 0, keys.Nth(n/2); i < n; i, key = i+1, keys.Next(key) {
			if want := keys.Nth(n/2 + i); key != want {
				t.Fatalf("of %d keys the one after %d steps is %d: want %d", n, i, key, want)
			}
			seen[key], texts[keys.String(key)] = true, true
			buffer := make([]byte, 20)
			for _, other := range []string{string(keys.Bytes(nil, key)), fresh.String(key), string(fresh.Bytes(buffer, key))} {
				if other != keys.String(key) {
					t.Errorf("%q is also %q", keys.String(key), other)
				}
			}
		}
		if len(seen) != n || len(texts) != n || len(keys.String(0)) != 20 {
			t.Errorf("%d of %d keys, %d texts, of %d bytes", len(seen), n, len(texts), len(keys.String(0)))
		}
	}
}
