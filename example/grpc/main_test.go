package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for pattern, want := range map[string]int{
		`(?m)^203\.0\.113\.7 +Check  OK$`:                                        5,
		`(?m)^2001:db8:1:2::42 +Check  OK$`:                                      5,
		`(?m)^203\.0\.113\.7 +Watch  OK$`:                                        2,
		`(?m)^2001:db8:1:2::42 +Watch  OK$`:                                      2,
		`(?m) Check  ResourceExhausted by the limit "1s", try again in \d+ms$`:   4,
		`(?m) Watch  ResourceExhausted by the limit "streams", try again in 1s$`: 2,
	} {
		if got := len(regexp.MustCompile(pattern).FindAllString(out.String(), -1)); got < want {
			t.Errorf("%d lines match %s, want %d:\n%s", got, pattern, want, out.String())
		}
	}
}
