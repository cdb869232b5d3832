package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for text, want := range map[string]int{
		"GET /greet/ann 200  RateLimit: \"1h\";r=":     2,
		"GET /greet/ann 429  RateLimit: \"1h\";r=0;t=": 1,
		"  Retry-After: ":                                2,
		"\n    \"hello ann\"\n":                          2,
		`"detail":"Your orders are the same as before."`: 1,
		`"detail":"The request does not identify its caller, and its limit is kept for each caller."`: 1,
	} {
		if got := strings.Count(out.String(), text); got != want {
			t.Errorf("printed %d times %q, want %d:\n%s", got, text, want, out.String())
		}
	}
}
