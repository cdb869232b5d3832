package generated_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestUncommonSources generates for what no case holds, since gofmt would change it or nobody would want to read it.
func TestUncommonSources(t *testing.T) {
	many := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	for _, test := range []struct {
		name, source string
		want         []string // among what is generated
	}{
		{
			"redundant parentheses",
			"type Gram int\n\ntype Scale interface {\n//ratelimit:count=1 key={(c)}\nWeigh(a, b, c (Gram), p *(Gram), f (func() (error))) (total, tare (Gram), _ (error))\n}",
			[]string{
				"Weigh(a, b, c Gram, p *Gram, f func() error) (Gram, Gram, error) {",
				"ratelimit.Int(int64(c))",
			},
		},
		{
			"all in one line",
			"type A interface { /* a */ Get(id string) error; Put(id string) error /* b */; Close() };" +
				"//ratelimit:count=1\n\n//ratelimit:count=2 methods=Get,Put\ntype B = interface { A }",
			nil, // the first directive stands behind the code of its line
		},
		{
			"windows line ends",
			strings.ReplaceAll("type A interface {\n\t//ratelimit:key=a\tcount=1  \n\tGet() error\n}", "\n", "\r\n"),
			[]string{`Key:   "a",`},
		},
		{
			"a thousand methods",
			"type A interface {\n" + many(1000, "//ratelimit:count=5 key={id}\nM%d(id string) (string, error)\n") + "}",
			[]string{
				"m999: limiter.Guard(\"random.A.M999\"",
				"func (a *RateLimitedA) M999(id string) (string, error) {",
			},
		},
		{
			"a thousand parameters",
			"type A interface {\n//ratelimit:count=5 key={p999}:{$0}\nGet(" + many(1000, "p%d string, ") + ") error\n}",
			[]string{"ratelimit.String(p999), ratelimit.String(p0)"},
		},
		{
			"a thousand limits of one method",
			"type A interface {\n" + many(1000, "//ratelimit:count=5 name=n%d\n") + "Get() error\n}",
			[]string{`Name:  "n999",`, "//   - at most 5 times per 1s (token bucket)"},
		},
		{
			"a hundred interfaces in each other",
			"type A interface {\n//ratelimit:count=5\nGet() error\n}\n\ntype Last " + strings.Repeat("interface{ ", 100) + "A" + strings.Repeat(" }", 100),
			[]string{"func (l *RateLimitedLast) Get() error {"},
		},
		{
			"a key of a hundred thousand bytes",
			"type A interface {\n//ratelimit:count=5 key=" + strings.Repeat("x", 100_000) + "{len(id)}\nGet(id string) error\n}",
			[]string{"ratelimit.Int(int64(len(id)))"},
		},
		{
			"a deep type",
			"type A interface {\n//ratelimit:count=5\nGet(" + strings.Repeat("func(", 100) + "int" + strings.Repeat(")", 100) + ") (" +
				strings.Repeat("[]map[string]", 100) + "int, error)\n}",
			[]string{"return nil, err"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := generateInMemory(t, map[string]string{"a.go": "package random\n\n" + test.source + "\n"})
			if test.want == nil {
				if len(v.mistakes) == 0 {
					t.Error("no mistake is reported")
				}
				return
			}
			if v.broken || len(v.mistakes) > 0 {
				t.Fatal(v.broken, v.mistakes)
			}
			for _, want := range test.want {
				if !strings.Contains(v.generated["a_ratelimit.go"], want) {
					t.Errorf("got\n%.10000s\nwant %s", v.generated["a_ratelimit.go"], want)
				}
			}
		})
	}
}
