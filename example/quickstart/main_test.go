package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

func TestDemoInMemory(t *testing.T) {
	testDemo(t, "")
}

func TestDemoInRedis(t *testing.T) {
	testDemo(t, "redis://"+redistest.Server(t).Addr)
}

func testDemo(t *testing.T, redisURL string) {
	var out strings.Builder
	if err := run(t.Context(), &out, redisURL); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for pattern, want := range map[string]int{
		`(?m)^203\.0\.113\.7 +5 × 200, 2 × 429$`:                       1,
		`(?m)^2001:db8:1:2::42 +5 × 200, 2 × 429$`:                     1,
		`(?m) 200  RateLimit: "1s";r=4;t=1$`:                           2,
		`(?m) 429  RateLimit: "1s";r=0;t=1  Retry-After: 1$`:           4,
		`(?m) /status  503  RateLimit: "1m";r=0;t=60  Retry-After: 60`: 1,
	} {
		if got := len(regexp.MustCompile(pattern).FindAllString(out.String(), -1)); got < want {
			t.Errorf("%d lines match %s, want %d:\n%s", got, pattern, want, out.String())
		}
	}
}
