package parse

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

func TestMayHaveDirectives(t *testing.T) {
	tests := []struct {
		src  string
		want bool
	}{
		{"//ratelimit:count=1", true},
		{"f() error //\tRateLimit:count=1", true},
		{"////ratelimit:count=1", true},
		{"//rate_limit:count=1", true},
		{"//ratelimt:count=1", true},
		{"// ratelimt : key=a", true},
		{"/*ratelimit:count=1*/", true},
		{"/*\r\n * ratelimit:count=1\r\n */", true},
		{"x := \"/*\" //ratelimit:count=1", true},
		{"/* open\nratelimit:skip", true},
		{"//ratelimit", true},
		{"//\u00a0ratelimit:count=1", true},
		{"//@AccessLimit(maxCount = 10)", true},
		{"// @see the README (count)", false},
		{"", false},
		{"/", false},
		{"//", false},
		{"/*", false},
		{"// RateLimitedService keeps ratelimit:count=1", false},
		{"// NOTE: x=1", false},
		{"// Deprecated: use ratelimit", false},
		{"x = ratelimit.New() / y", false},
		{"\"https://example.com/ratelimit:count=1\"", false},
	}
	for _, tt := range tests {
		if got := mayHaveDirectives([]byte(tt.src)); got != tt.want {
			t.Errorf("mayHaveDirectives(%q) = %t, want %t", tt.src, got, tt.want)
		}
	}
}

// FuzzMayHaveDirectives holds the scan to its promise: whatever the grammar has an opinion on is let through.
func FuzzMayHaveDirectives(f *testing.F) {
	for _, comment := range []string{
		"//ratelimit:count=1", "// ratelimit: key=a", "//RateLimit count=1", "//ratelimit skip", "/*\n\tratelimit:skip */",
		"//@RateLimits({", "// @Limit (count=5)", "//rate-limit:ip", "//ratelimiter:count=1", "//ratelmt: limit count=1", "//\u2003ratelimit:key=a", "//ratelimitgen:key=a", "//\nrAtelimit:0",
	} {
		f.Add(comment)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		src := "package p\n\n" + comment + "\n"
		file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments)
		if err != nil || len(file.Comments) != 1 || len(file.Comments[0].List) != 1 || file.Comments[0].List[0].Text != comment {
			return // not one comment as the parser yields it
		}
		annotation, err := annotations.Parse(comment)
		if (annotation != nil || err != nil) && !mayHaveDirectives([]byte(src)) {
			t.Errorf("%q is not let through", comment)
		}
	})
}
