package annotations

import (
	"errors"
	"testing"
)

func TestEdits(t *testing.T) {
	tests := []struct {
		comment string
		want    []string // after each edit alone, in order of the mistakes; "" for one without
	}{
		// Near misses, whose rest stays as it is.
		{"// ratelimit:count=5", []string{"//ratelimit:count=5"}},
		{"//ratelimit: key=users count=5", []string{"//ratelimit:key=users count=5"}},
		{"//RateLimit:count=5", []string{"//ratelimit:count=5"}},
		{"//rate-limit:count=5", []string{"//ratelimit:count=5"}},
		{"//ratelimit-count=5", []string{"//ratelimit:count=5"}},
		{"///ratelimit:skip", []string{"//ratelimit:skip"}},
		{"//go:ratelimit:count=5 time=1", []string{"//ratelimit:count=5 time=1"}},
		{"//\tratelimit: Count=5 ", []string{"//ratelimit:count=5 "}},
		{"// ratelimit: maxRequests = 5", []string{"//ratelimit:count = 5"}}, // its blanks are the next mistake
		{"// ratelimit:limit count=5", []string{"//ratelimit:limit count=5"}},
		{"//RateLimit:", []string{""}}, // nobody knows of what

		// Block comments of one line.
		{"/*ratelimit:count=5*/", []string{"//ratelimit:count=5"}},
		{"/* ratelimit:count=5 time=1 */", []string{"//ratelimit:count=5 time=1"}},
		{"/*\n * ratelimit:count=5\n */", []string{""}},

		// Annotations of other languages, if all of it is understood.
		{`//@RateLimit(key="testGet", time=1, count=5, ip=true)`, []string{`//ratelimit:key="testGet" time=1 count=5 ip=true`}},
		{"// @RateLimit(count = 5, time = 1)", []string{"//ratelimit:count=5 time=1"}},
		{"//@ratelimit(count=5)", []string{"//ratelimit:count=5"}},
		{"//@RateLimit(count=5, unit=SECONDS)", []string{""}},
		{"//@RateLimit(count=5, time=1", []string{""}},
		{"//@RateLimit(count=MAX)", []string{""}},

		// Words.
		{"//ratelimit:Key=users count=5", []string{"//ratelimit:key=users count=5"}},
		{"//ratelimit:count=5 ipLimit=true", []string{"//ratelimit:count=5 ip=true"}},
		{"//ratelimit:cuont=5 tmie=1", []string{"//ratelimit:count=5 tmie=1", "//ratelimit:cuont=5 time=1"}},
		{"//ratelimit:count=5 limit=5", []string{""}}, // which of the two?
		{"//ratelimit:count=5 colour=red", []string{""}},
		{"//ratelimit:exempt", []string{"//ratelimit:skip"}},
		{"//ratelimit:hello", []string{""}},
		{"//ratelimit:count=5 algorithm=gcra", []string{"//ratelimit:count=5 algorithm=leaky-bucket"}},
		{`//ratelimit:count=5 refill="greedily"`, []string{`//ratelimit:count=5 refill="greedy"`}},
		{"//ratelimit:count=5 mode=pink", []string{""}},

		{"//ratelimit:count5", []string{""}}, // of which the value would be gone

		// Colons.
		{"//ratelimit:count:5", []string{"//ratelimit:count=5"}},
		{"//ratelimit:key:{a.b} count: 5", []string{"//ratelimit:key={a.b} count: 5", "//ratelimit:key:{a.b} count=5"}},
		{"//ratelimit:rate=5/s message: fail=closed", []string{""}}, // or else nobody would see that fail is gone
		{"//ratelimit:count=5 key: cost={n}", []string{""}},
		{"//ratelimit:count=5 key=\ttime: 10s", []string{"", "//ratelimit:count=5 key=\ttime=10s"}},
		{"//ratelimit:count=5 key: user:{id}", []string{"//ratelimit:count=5 key=user:{id}"}},
		{"//ratelimit:limit:count=5", []string{"//ratelimit:limit count=5"}},
		{"//ratelimit:limit:5", []string{"//ratelimit:count:5", "//ratelimit:limit=5"}},
		{"//ratelimit:skip:true", []string{"//ratelimit:skip"}},
		{"//ratelimit:skip:count=5", []string{""}},
		{"//ratelimit:hello:count=5", []string{""}},

		// What would refuse fewer calls is for somebody to decide, unless it is only misspelled.
		{"//ratelimit:count=5 onempty=skip", []string{""}},
		{"//ratelimit:count=5 onempty=alow", []string{"//ratelimit:count=5 onempty=allow"}},
		{"//ratelimit:count=5 fail=pass", []string{""}},
		{"//ratelimit:count=5 mode=dry-run", []string{""}},
		{"//ratelimit:count=5 onempty=reject", []string{"//ratelimit:count=5 onempty=deny"}},

		// Blanks.
		{"//ratelimit:count = 5", []string{"//ratelimit:count=5"}},
		{"//ratelimit:count= 5 time =1", []string{"//ratelimit:count=5 time =1", "//ratelimit:count= 5 time=1"}},

		// Mistakes without a remedy.
		{"//ratelimit:count=0", []string{""}},
	}
	for _, test := range tests {
		_, err := Parse(test.comment)
		var mistakes Errors
		errors.As(err, &mistakes)
		var got []string
		for _, mistake := range mistakes {
			text := ""
			if e := mistake.Edit; e != nil {
				text = test.comment[:e.Start] + e.Text + test.comment[e.End:]
			}
			got = append(got, text)
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: got %q, want %q: %v", test.comment, got, test.want, err)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: got %q, want %q", test.comment, got[i], test.want[i])
			}
		}
	}
}
