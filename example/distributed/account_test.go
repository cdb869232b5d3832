package main

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestWhatTheLimitAdmits(t *testing.T) {
	const s = time.Second
	redis := func(sent time.Duration) call { return call{sent: sent, answered: sent, outcome: admitted} }
	local := func(process int, sent time.Duration) call {
		return call{process: process, sent: sent, answered: sent, outcome: admitted, local: true}
	}
	for _, test := range []struct {
		name  string
		lost  time.Duration
		calls []call
		now   time.Duration
		want  int
	}{
		{"a full bucket at first", 0, nil, 0, 12},
		{"and twelve a second", 0, []call{redis(9 * s)}, 10 * s, 12 + 120},
		{"rounded down", 0, nil, 1999 * time.Millisecond, 12 + 23},
		{"none from a server that is gone", 4 * s, []call{redis(3 * s)}, 10 * s, 12 + 48},
		{"a call sent before is no sign of its return", 4 * s, []call{redis(4 * s)}, 10 * s, 12 + 48},
		{"a new primary is full", 4 * s, []call{redis(7 * s), redis(8 * s)}, 10 * s, 12 + 48 + 12 + 36},
		{"a call of a process", 4 * s, []call{local(0, 5*s)}, 5 * s, 12 + 48 + 4},
		{"calls of a process", 4 * s, []call{local(0, 5*s), local(0, 5900*time.Millisecond), local(0, 6*s)}, 6 * s, 12 + 48 + 4 + 4},
		{"calls of two", 4 * s, []call{local(0, 5*s), local(2, 5*s), local(0, 5500*time.Millisecond)}, 6 * s, 12 + 48 + 4 + 2 + 4},
		{"so late that the bucket is full again", 0, []call{local(0, 2*s), local(0, 3*s), local(0, 3900*time.Millisecond)}, 4 * s, 12 + 48 + 4 + 4 + 3},
	} {
		a := account{lost: test.lost}
		for _, c := range test.calls {
			a.add(c)
		}
		if got := a.most(test.now); got != test.want {
			t.Errorf("%s: at most %d, want %d", test.name, got, test.want)
		}
	}
}

func TestBrokenPromiseIsAnError(t *testing.T) {
	var out strings.Builder
	r := newReport(&out)
	r.accounts = []*account{{user: "user-1"}}
	for range 100 {
		r.record(call{outcome: admitted})
	}
	r.record(call{outcome: undecided})
	if err := r.verdict(); err == nil || err.Error() != "not all promises were kept" {
		t.Errorf("verdict returns %v", err)
	}
	for _, want := range []string{
		"\nBROKEN  1 users whose primaries lived: user-1, closest to its limit, admitted 100 of at most ",
		"\nBROKEN  every call got a decision: of 101, 1 were undecided and 0 failed\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}

func TestServiceEndsWithThePipeToIt(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := untilClosed(t.Context(), r)
	defer cancel()
	if err := ctx.Err(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
}
