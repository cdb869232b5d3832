package annotations

import (
	"go/ast"
	"go/token"
	"reflect"
	"strings"
	"testing"
	"time"
)

// limit is the annotation of //ratelimit:count=5 with some fields changed.
func limit(change func(a *Annotation)) *Annotation {
	a := &Annotation{
		Count: 5, Period: time.Second, PeriodText: "1s", Name: "1s",
		Algorithm: TokenBucket, Refill: Greedy, Cost: 1,
	}
	change(a)
	return a
}

// every is a limit with a period.
func every(d time.Duration, text string) *Annotation {
	return limit(func(a *Annotation) { a.Period, a.PeriodText, a.Name = d, text, text })
}

// keyed is a limit with a key of these parts.
func keyed(parts ...Part) *Annotation {
	return limit(func(a *Annotation) { a.Key = &Template{Parts: parts} })
}

// counted is a limit of an algorithm that has no refill.
func counted(algorithm Algorithm) *Annotation {
	return limit(func(a *Annotation) { a.Algorithm, a.Refill = algorithm, "" })
}

func text(s string) Part                  { return Part{Literal: s} }
func caller(s string) Part                { return Part{Caller: s} }
func expr(s string, offset int) Part      { return Part{Expr: &Expr{Text: s, Offset: offset}} }
func messaged(message string) *Annotation { return limit(func(a *Annotation) { a.Message = message }) }

var valid = []struct {
	directive string
	want      *Annotation
}{
	// The forms.
	{`//ratelimit:count=5`, limit(func(*Annotation) {})},
	{`//ratelimit:limit count=5`, limit(func(*Annotation) {})},
	{"//ratelimit:limit\t count=5", limit(func(*Annotation) {})},
	{`//ratelimit:skip`, &Annotation{Exempt: true}},
	{"//ratelimit:skip \t\r", &Annotation{Exempt: true}},
	{`//ratelimit:skip={ctx == nil} count=5`, limit(func(a *Annotation) { a.Skip = &Expr{Text: "ctx == nil", Offset: 18} })},
	{"//ratelimit:count=5\t\tip  \r", limit(func(a *Annotation) { a.By = []string{"ip"} })},
	{`//ratelimit:key=testGet time=1 count=5 ip=true`, limit(func(a *Annotation) {
		a.Key = &Template{Parts: []Part{text("testGet")}}
		a.By = []string{"ip"}
	})},

	// Numbers and periods.
	{`//ratelimit:count=1000000000 time=1d`, limit(func(a *Annotation) {
		a.Count, a.Period, a.PeriodText, a.Name = 1_000_000_000, day, "1d", "1d"
	})},
	{`//ratelimit:count=005`, limit(func(*Annotation) {})},
	{`//ratelimit:count=5 time=60`, every(time.Minute, "60s")},
	{`//ratelimit:count=5 time=1ms`, every(time.Millisecond, "1ms")},
	{`//ratelimit:count=5 time=500ms`, every(500*time.Millisecond, "500ms")},
	{`//ratelimit:count=5 time=1m30s`, every(90*time.Second, "1m30s")},
	{`//ratelimit:count=5 time=1d12h`, every(36*time.Hour, "1d12h")},
	{`//ratelimit:count=5 time=1d2h3m4s5ms`, every(26*time.Hour+3*time.Minute+4005*time.Millisecond, "1d2h3m4s5ms")},
	{`//ratelimit:count=5 time=366d`, every(366*day, "366d")},
	{`//ratelimit:rate=5/s`, limit(func(*Annotation) {})},
	{`//ratelimit:rate=5/ms`, every(time.Millisecond, "1ms")},
	{`//ratelimit:rate=5/m`, every(time.Minute, "1m")},
	{`//ratelimit:rate=5/h`, every(time.Hour, "1h")},
	{`//ratelimit:rate=5/d`, every(day, "1d")},
	{`//ratelimit:rate=5/15m`, every(15*time.Minute, "15m")},
	{`//ratelimit:rate=5/1m30s`, every(90*time.Second, "1m30s")},
	{`//ratelimit:rate=1000000/s`, limit(func(a *Annotation) { a.Count = 1_000_000 })},
	{`//ratelimit:count=5 wait=2`, limit(func(a *Annotation) { a.Wait = 2 * time.Second })},
	{`//ratelimit:rate=1000000/s wait=1000s`, limit(func(a *Annotation) { a.Count, a.Wait = 1_000_000, 1000*time.Second })}, // a debt of 1e9
	{`//ratelimit:rate=1000000/s wait=2000s algorithm=sliding-log`, limit(func(a *Annotation) { // nobody has a place
		a.Count, a.Wait, a.Algorithm, a.Refill = 1_000_000, 2000*time.Second, SlidingLog, ""
	})},
	{`//ratelimit:count=5 wait=250ms`, limit(func(a *Annotation) { a.Wait = 250 * time.Millisecond })},

	// Who is counted.
	{`//ratelimit:count=5 ip=false`, limit(func(*Annotation) {})},
	{`//ratelimit:ip count=5`, limit(func(a *Annotation) { a.By = []string{"ip"} })},
	{`//ratelimit:count=5 by=user,x-api_key2`, limit(func(a *Annotation) { a.By = []string{"user", "x-api_key2"} })},
	{`//ratelimit:count=5 by=user ip`, limit(func(a *Annotation) { a.By = []string{"ip", "user"} })},
	{`//ratelimit:count=5 ip by=user`, limit(func(a *Annotation) { a.By = []string{"ip", "user"} })},
	{`//ratelimit:count=5 ip by=user,ip`, limit(func(a *Annotation) { a.By = []string{"user", "ip"} })}, // ip keeps its place
	{`//ratelimit:count=5 by=user,ip ip`, limit(func(a *Annotation) { a.By = []string{"user", "ip"} })},

	// The algorithms.
	{`//ratelimit:count=5 algorithm=token-bucket`, limit(func(*Annotation) {})},
	{`//ratelimit:count=5 algorithm=fixed-window`, counted(FixedWindow)},
	{`//ratelimit:count=5 algorithm=sliding-log`, counted(SlidingLog)},
	{`//ratelimit:count=5 algorithm=sliding-window`, counted(SlidingWindow)},
	{`//ratelimit:count=5 algorithm=leaky-bucket`, counted(LeakyBucket)},
	{`//ratelimit:count=5 algorithm=concurrency`, limit(func(a *Annotation) {
		a.Algorithm, a.Refill = Concurrency, ""
		a.Period, a.PeriodText, a.Name = 30*time.Second, "30s", "30s"
	})},
	{`//ratelimit:count=5000000 time=1 algorithm=concurrency`, limit(func(a *Annotation) { // slots have no speed
		a.Count, a.Algorithm, a.Refill = 5_000_000, Concurrency, ""
	})},
	{`//ratelimit:count=5 refill=greedy`, limit(func(*Annotation) {})},
	{`//ratelimit:count=5 refill=interval`, limit(func(a *Annotation) { a.Refill = Interval })},
	{`//ratelimit:count=5 burst=1`, limit(func(a *Annotation) { a.Burst = 1 })},
	{`//ratelimit:count=5 burst=8 cost=8`, limit(func(a *Annotation) { a.Burst, a.Cost = 8, 8 })},
	{`//ratelimit:count=5 burst=1000000000`, limit(func(a *Annotation) { a.Burst = 1_000_000_000 })},
	{`//ratelimit:count=5 burst=8 algorithm=leaky-bucket`, limit(func(a *Annotation) {
		a.Burst, a.Algorithm, a.Refill = 8, LeakyBucket, ""
	})},
	{`//ratelimit:count=5 time=365d burst=500`, limit(func(a *Annotation) { // 100 years to the day
		a.Period, a.PeriodText, a.Name, a.Burst = 365*day, "365d", "365d", 500
	})},
	{`//ratelimit:count=5 prefetch=5`, limit(func(a *Annotation) { a.Prefetch = 5 })},
	{`//ratelimit:count=5 cost=2 prefetch=2`, limit(func(a *Annotation) { a.Prefetch, a.Cost = 2, 2 })},
	{`//ratelimit:count=5 burst=3 prefetch=3`, limit(func(a *Annotation) { a.Prefetch, a.Burst = 3, 3 })},

	// Single calls.
	{`//ratelimit:count=5 cost=0`, limit(func(a *Annotation) { a.Cost = 0 })},
	{`//ratelimit:count=5 cost={len(ids)}`, limit(func(a *Annotation) { a.Cost, a.CostExpr = 0, &Expr{Text: "len(ids)", Offset: 26} })},
	{`//ratelimit:count=5 cost={ $1 }`, limit(func(a *Annotation) { a.Cost, a.CostExpr = 0, &Expr{Text: "$1", Offset: 27} })},
	{`//ratelimit:count=5 refund={err == nil}`, limit(func(a *Annotation) { a.Refund = &Expr{Text: "err == nil", Offset: 28} })},
	{`//ratelimit:count=5 fallback=cached`, limit(func(a *Annotation) { a.Fallback = "cached" })},
	{`//ratelimit:count=5 fail=open mode=shadow onempty=share`, limit(func(a *Annotation) {
		a.Fail, a.Mode, a.OnEmpty = "open", "shadow", "share"
	})},
	{`//ratelimit:count=5 status=503 name=slow_2`, limit(func(a *Annotation) { a.Status, a.Name = 503, "slow_2" })},
	{`//ratelimit:count=5 methods=Get,List*,go*`, limit(func(a *Annotation) { a.Methods = []string{"Get", "List*", "go*"} })},
	{`//ratelimit:count=5 methods=*`, limit(func(a *Annotation) { a.Methods = []string{"*"} })},

	// Quotes.
	{`//ratelimit:count="5"`, limit(func(*Annotation) {})},
	{`//ratelimit:count=5 message="slow down"`, messaged("slow down")},
	{"//ratelimit:count=5 message=`slow \"down\"`", messaged(`slow "down"`)},
	{`//ratelimit:count=5 message="\"slow\" \u00e9\xc3\xa9\\"`, messaged(`"slow" éé\`)},
	{`//ratelimit:count=5 message=it's`, messaged("it's")},
	{`//ratelimit:count=5 message=a=b//c,d`, messaged("a=b//c,d")},
	{`//ratelimit:count=5 message={ "a }" b }`, messaged(`{ "a }" b }`)}, // one rule for all bare values
	{`//ratelimit:count=5 message="a {b"`, messaged("a {b")},
	{`//ratelimit:count=5 message=日本👨‍👩‍👧`, messaged("日本👨‍👩‍👧")},

	// Key templates.
	{`//ratelimit:count=5 key=a:{id}`, keyed(text("a:"), expr("id", 27))},
	{`//ratelimit:count=5 key={@ip}{@user-id}x`, keyed(caller("ip"), caller("user-id"), text("x"))},
	{`//ratelimit:count=5 key={ @ip }`, keyed(caller("ip"))},
	{`//ratelimit:count=5 key={{a}}`, keyed(text("{a}"))},
	{`//ratelimit:count=5 key={{{a}}}`, keyed(text("{"), expr("a", 27), text("}"))},
	{`//ratelimit:count=5 key={  req.ID  }/x`, keyed(expr("req.ID", 27), text("/x"))},
	{`//ratelimit:count=5 key={T{{1}}.Of(map[string]int{"a": 1})}`, keyed(expr(`T{{1}}.Of(map[string]int{"a": 1})`, 25))},
	{"//ratelimit:count=5 key={m[\"}\"]}{'}'}{`\\}`}{'\\''}", keyed(
		expr(`m["}"]`, 25), expr(`'}'`, 33), expr("`\\}`", 38), expr(`'\''`, 44),
	)},
	{`//ratelimit:count=5 key={$0}{$10.ID}{f($1, "$x")}`, keyed(expr("$0", 25), expr("$10.ID", 29), expr(`f($1, "$x")`, 37))},
	{`//ratelimit:count=5 key={"http://" + host}`, keyed(expr(`"http://" + host`, 25))}, // no comment
	{`//ratelimit:count=5 key="a b {m[\"x\"]} {id}"`, keyed(text("a b "), expr(`m["x"]`, 30), text(" "), expr("id", 41))},
	{"//ratelimit:count=5 key=`a {m[\"x\"]}`", keyed(text("a "), expr(`m["x"]`, 28))},
	{`//ratelimit:count=5 key="{{\u0041{é}{id}"`, keyed(text("{A"), expr("é", 34), expr("id", 38))},
}

func TestParse(t *testing.T) {
	for _, test := range valid {
		got, err := Parse(test.directive)
		if err != nil {
			t.Errorf("%s\n%v", test.directive, err)
			continue
		}
		written := got.attributes
		got.attributes = nil
		forgetEscapes(got)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", test.directive, *got, *test.want)
		}
		got.attributes = written
	}
}

// forgetEscapes removes the offsets that TestExpressionOffsets is for.
func forgetEscapes(a *Annotation) {
	if a.Key != nil {
		for i := range a.Key.Parts {
			part := &a.Key.Parts[i]
			if part.Offset = 0; part.Expr != nil {
				part.Expr.offsets = nil
			}
		}
	}
}

// What other tools and plain prose write is not ours.
func TestParseNothing(t *testing.T) {
	for _, comment := range []string{
		"",
		"//",
		"/**/",
		"// TestGet returns the user.",
		"//go:generate go tool ratelimitgen",
		"//nolint:ratelimit // false alarm",
		"// ratelimit: see the README",
		"// ratelimit",
		"// ratelimit.Limiter is safe for concurrent use.",
		"//ratelimit.New(store)",
		"// ratelimit = 5",
		"//rateLimit=5",
		"// rateLimit := 5",
		"// ratelimit := ratelimit.New(store)",
		"//ratelimit := 5",
		"/* ratelimit := New() */",
		"//ratelimit.Count = 5",
		"// ratelimit.Count = 5",
		"// rateLimit.time = 5",
		"// rateLimit, count = 5, 6",
		"//ratelimit: 5,",
		"//ratelimit: NewLimit(count=5),",
		"// rate limit of 5",
		"// Rate limit: five a second",
		"// ratelimit-count is a header",
		"// rateLimit(ctx, key)",
		"//go:generate go tool ratelimitgen",
		"// ratelimit: the limit of a client, 5 by default",
		"// ratelimit: skip this test",
		"// Ratelimit:",
		"// RateLimit: cfg.RateLimit,",
		"//RateLimit: 5,",
		"// rate limit: count=5",
		"// RateLimit is count=5.",
		"// rateLimit = 5",
		"// rateLimit == count",
		"// ratelimit count == 5",
		"// RateLimiter: size=5 of the pool",
		"//ratelimiter:foo=1",
		"//datelimit:foo=1",
		"// @RateLimiter(…) is what it was in Java",
		"// @RateLimits() is none of ours",
		"//@Limit(\"x\")",
		"//@Limit(2)",
		"// RateLimiter(count=5) makes one",
		"//@NoLimit(count=5)",
		"//reline:count=5",
		"// //ratelimit:count=5", // commented out
		"////ratelimit:count=5",
		"/* //ratelimit:count=5 */",
		"/*\n//ratelimit:count=5\n*/",
		"/*\nratelimit is a service.\n\n\tratelimit: a thing\n*/",
		"package annotations",
		"ratelimit:count=5",
	} {
		if a, err := Parse(comment); a != nil || err != nil {
			t.Errorf("%q: got %v, %v, want nothing", comment, a, err)
		}
	}
}

func TestOffsets(t *testing.T) {
	const directive = "//ratelimit:limit key=`a` ip\tcount=5 message=\"x\" mode=off"
	a, err := Parse(directive)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		attr          string
		has           bool
		offset, value int
	}{
		{"key", true, 18, 23},
		{"ip", true, 26, 26},
		{"count", true, 29, 35},
		{"message", true, 37, 46},
		{"mode", true, 49, 54},
		{"time", false, 0, 0}, // a default is not written
		{"limit", false, 0, 0},
	} {
		if has := a.Has(test.attr); has != test.has {
			t.Errorf("Has(%s): got %t", test.attr, has)
		}
		if offset := a.Offset(test.attr); offset != test.offset {
			t.Errorf("Offset(%s): got %d, want %d", test.attr, offset, test.offset)
		}
		if offset := a.ValueOffset(test.attr); offset != test.value {
			t.Errorf("ValueOffset(%s): got %d, want %d", test.attr, offset, test.value)
		}
	}
}

func TestExpressionOffsets(t *testing.T) {
	for _, directive := range []string{
		`//ratelimit:count=5 key=a:{ m["x"].ID }:{@ip}`,
		`//ratelimit:count=5 key="a:{ m[\"x\"].ID }:{@ip}"`,
		`//ratelimit:count=5 key="\u0061:{ m[\x22x\x22].ID }:{@ip}"`,
		"//ratelimit:count=5 key=`a:{ m[\"x\"].ID }:{@ip}`",
	} {
		a, err := Parse(directive)
		if err != nil {
			t.Fatal(err)
		}
		hole, caller := a.Key.Parts[1], a.Key.Parts[3]
		for i, want := range map[int]string{0: "m[", 1: "[", len(`m["x"].`): "ID }", len(hole.Expr.Text): " }:"} {
			if at := hole.Expr.At(i); !strings.HasPrefix(directive[at:], want) {
				t.Errorf("%s: byte %d of the expression is at %q, want %q", directive, i, directive[at:], want)
			}
		}
		if !strings.HasPrefix(directive[hole.Offset:], "{ m") || !strings.HasPrefix(directive[caller.Offset:], "{@ip") {
			t.Errorf("%s: holes are at %q and %q", directive, directive[hole.Offset:], directive[caller.Offset:])
		}
	}
}

func TestExpressionSyntax(t *testing.T) {
	a, err := Parse(`//ratelimit:count=5 skip={f($0, "$1", _0) && $1.ok && 'x' == $10}`)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	ast.Inspect(a.Skip.Syntax(token.NewFileSet()), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			words = append(words, n.Name)
		case *ast.BasicLit:
			words = append(words, n.Value)
		}
		return true
	})
	if got, want := strings.Join(words, " "), `f $0 "$1" _0 $1 ok 'x' $10`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
