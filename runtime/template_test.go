package ratelimit_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func TestIdentity(t *testing.T) {
	ctx := ratelimit.WithClientIP(t.Context(), netip.MustParseAddr("203.0.113.7"))
	ctx = ratelimit.WithCaller(ctx, "user", "ann")
	with := func(name, value string) context.Context { return ratelimit.WithCaller(ctx, name, value) }
	ip := func(text string) context.Context { return ratelimit.WithClientIP(ctx, netip.MustParseAddr(text)) }
	long := strings.Repeat("x", 129)

	tests := []struct {
		name, key string
		ctx       context.Context
		want      string
	}{
		{"shared", "testGet", ctx, "testGet"},
		{"per IP", "testGet:{@ip}", ctx, "testGet:203.0.113.7"},
		{"two attributes", "get:{@user}:{@ip}", ctx, "get:ann:203.0.113.7"},
		{"braces of the developer", "a{{b}}%", ctx, "a%7Bb%7D%25"},
		{"IPv6 holds the separator", "k:{@ip}", ip("2001:db8::1"), "k:2001%3Adb8%3A%3A1"},
		{"IPv4 mapped into IPv6 is IPv4", "k:{@ip}", ip("::ffff:192.0.2.1"), "k:192.0.2.1"},
		{"zone is dropped", "k:{@ip}", ip("fe80::1%eth0"), "k:fe80%3A%3A1"},
		{"caller's text cannot end the hash tag", "k:{@user}", with("user", "a}{b:c%\x00\x7f\n"), "k:a%7D%7Bb%3Ac%25%00%7F%0A"},
		{"other bytes stay", "k:{@user}", with("user", "é \xff#"), "k:é \xff#"},
		{"128 bytes stay", "k:{@user}", with("user", long[:128]), "k:" + long[:128]},
		{"129 bytes become a hash", "k:{@user}", with("user", long), "k:#0ec9eb33e74510bcdd1f2ea55206e82f"},
		{"text like a hash is no hash", "k:{@user}", with("user", "#0ec9eb33e74510bcdd1f2ea55206e82f"), "k:%230ec9eb33e74510bcdd1f2ea55206e82f"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s script
			g := newLimiter(t, &s).Guard("m", ratelimit.Rule{Key: tt.key, Limit: fivePerSecond})
			if err := g.Allow(tt.ctx); err != nil {
				t.Fatal(err)
			}
			if len(s.keys) != 1 || s.keys[0] != tt.want {
				t.Errorf("key %q: asked about %q, want %q", tt.key, s.keys, tt.want)
			}
		})
	}
}

// R46 (d): parts are separated, so that ("a","bc") and ("ab","c") never meet.
func FuzzIdentitiesNeverMeet(f *testing.F) {
	f.Add("a", "bc", "ab", "c")
	f.Add("a:b", "c", "a", "b:c")
	f.Add("%3A", "", ":", "")
	f.Add(strings.Repeat("x", 129), "y", "#0ec9eb33e74510bcdd1f2ea55206e82f", "y")
	f.Fuzz(func(t *testing.T, a1, a2, b1, b2 string) {
		var s script
		g := newLimiter(t, &s).Guard("m", ratelimit.Rule{Key: "k:{@a}:{@b}", Limit: fivePerSecond, OnEmpty: ratelimit.EmptyShare})
		for _, v := range [][2]string{{a1, a2}, {b1, b2}} {
			ctx := ratelimit.WithCaller(ratelimit.WithCaller(t.Context(), "a", v[0]), "b", v[1])
			if err := g.Allow(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if same := a1 == b1 && a2 == b2; (s.keys[0] == s.keys[1]) != same {
			t.Errorf("(%q, %q) and (%q, %q) have the keys %q", a1, a2, b1, b2, s.keys)
		}
		for _, key := range s.keys {
			if strings.ContainsAny(key, "{}") || strings.Count(key, ":") != 2 {
				t.Errorf("key %q holds a brace or a separator of the caller", key)
			}
		}
	})
}

// keyOf returns the key that a call has under a template.
func keyOf(t *testing.T, template string, call ...ratelimit.Arg) string {
	t.Helper()
	var s script
	g := newLimiter(t, &s).Guard("m", ratelimit.Rule{Key: template, Limit: fivePerSecond, OnEmpty: ratelimit.EmptyShare})
	if err := g.Allow(t.Context(), call...); err != nil {
		t.Fatal(err)
	}
	return s.keys[0]
}

func TestPartsOfTheCall(t *testing.T) {
	addr := netip.MustParseAddr("2001:db8::1")
	tests := []struct {
		name, key string
		call      []ratelimit.Arg
		want      string
	}{
		{"text", "user:{id}", []ratelimit.Arg{ratelimit.String("a:b")}, "user:a%3Ab"},
		{"bytes", "{id}", []ratelimit.Arg{ratelimit.Bytes([]byte{0, 'x'})}, "%00x"},
		{"integers", "{a}:{b}", []ratelimit.Arg{ratelimit.Int(-7), ratelimit.Uint(1<<64 - 1)}, "-7:18446744073709551615"},
		{"bool", "{a}:{b}", []ratelimit.Arg{ratelimit.Bool(true), ratelimit.Bool(false)}, "true:false"},
		{"Stringer", "{a}", []ratelimit.Arg{ratelimit.Stringer(addr)}, "2001%3Adb8%3A%3A1"},
		{"TextMarshaler", "{a}", []ratelimit.Arg{ratelimit.Text(addr)}, "2001%3Adb8%3A%3A1"},
		{"the text of a hole is the developer's", "{req.User.ID}:{len(req.Items)}", []ratelimit.Arg{ratelimit.String("ann"), ratelimit.Int(3)}, "ann:3"},
		{"one part, twice", "{a}:{b}:{a}", []ratelimit.Arg{ratelimit.String("x"), ratelimit.String("y")}, "x:y:x"},
		{"parts side by side are kept apart", "{a}{b}", []ratelimit.Arg{ratelimit.String("x"), ratelimit.String("y")}, "x:y"},
		{"what follows a part is escaped in it", "{a}-{b}", []ratelimit.Arg{ratelimit.String("x-y"), ratelimit.String("z-z")}, "x%2Dy-z-z"},
		{"also when it is a digit", "{a}0{b}", []ratelimit.Arg{ratelimit.Int(100), ratelimit.Int(0)}, "1%30%3000"},
		{"or an escape", "{a}{{", []ratelimit.Arg{ratelimit.String("x{")}, "x%7B:%7B"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := keyOf(t, tt.key, tt.call...); got != tt.want {
				t.Errorf("key %q: asked about %q, want %q", tt.key, got, tt.want)
			}
		})
	}
}

// Whatever text is between two parts, different parts have different keys.
func FuzzPartsAreKeptApart(f *testing.F) {
	f.Add("", "a", "bc", "ab", "c")
	f.Add("-", "x-y", "z", "x", "y-z")
	f.Add("%", "x", "%y", "x%", "y")
	f.Add("3", ":", "a", "%", "Aa")
	f.Add("#", strings.Repeat("x", 129), "y", "#0ec9eb33e74510bcdd1f2ea55206e82f", "y")
	f.Fuzz(func(t *testing.T, between, a1, a2, b1, b2 string) {
		template := "k{a}" + strings.NewReplacer("{", "{{", "}", "}}").Replace(between) + "{b}"
		a := keyOf(t, template, ratelimit.String(a1), ratelimit.String(a2))
		b := keyOf(t, template, ratelimit.String(b1), ratelimit.String(b2))
		if same := a1 == b1 && a2 == b2; (a == b) != same {
			t.Errorf("%q: (%q, %q) and (%q, %q) have the keys %q and %q", template, a1, a2, b1, b2, a, b)
		}
		if strings.ContainsAny(a, "{}") {
			t.Errorf("key %q holds a brace", a)
		}
	})
}

// broken is a TextMarshaler that fails.
type broken struct{}

func (broken) MarshalText() ([]byte, error) { return nil, errors.New("no text") }

func TestWrongParts(t *testing.T) {
	tests := []struct {
		name string
		call []ratelimit.Arg
		want string
	}{
		{"none", nil, "the call has 0 parts for its keys: want 1"},
		{"too many", []ratelimit.Arg{ratelimit.Int(1), ratelimit.Int(2)}, "the call has 2 parts for its keys: want 1"},
		{"a cost first", []ratelimit.Arg{ratelimit.Cost("1s", 1), ratelimit.Int(1)}, "the call has 0 parts for its keys: want 1"},
		{"no text", []ratelimit.Arg{ratelimit.Text(broken{})}, "part 1 of the call: no text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s script
			g := newLimiter(t, &s).Guard("m", ratelimit.Rule{Key: "{a}", Limit: fivePerSecond})
			checkError(t, g.Allow(t.Context(), tt.call...), "m: rate limit undecided: ratelimit: "+tt.want)
		})
	}
}

func TestMissingPart(t *testing.T) {
	for name, part := range map[string]ratelimit.Arg{
		"zero Arg":     {},
		"empty text":   ratelimit.String(""),
		"no bytes":     ratelimit.Bytes(nil),
		"nil Stringer": ratelimit.Stringer(nil),
		"nil Text":     ratelimit.Text(nil),
	} {
		t.Run(name, func(t *testing.T) {
			var s script
			l := newLimiter(t, &s)
			rule := ratelimit.Rule{Key: "user:{req.ID}", Limit: fivePerSecond}
			err := l.Guard("users.Get", rule).Allow(t.Context(), part)
			checkError(t, err, "users.Get: rate limit exceeded: limit 1s goes by req.ID, which the call does not have")
			rule.OnEmpty = ratelimit.EmptyAllow
			checkError(t, l.Guard("users.Get", rule).Allow(t.Context(), part), "")
			if len(s.keys) != 0 {
				t.Errorf("asked about %q", s.keys)
			}
		})
	}
}

func TestCostAndSkipOfTheCall(t *testing.T) {
	rules := []ratelimit.Rule{
		{Key: "a", Name: "first", Limit: fivePerSecond, CostArg: true},
		{Key: "b", Name: "second", Limit: fivePerSecond},
	}
	tests := []struct {
		name  string
		call  []ratelimit.Arg
		costs map[string]int64 // asked of the store, by key
		want  string           // error
	}{
		{"cost", []ratelimit.Arg{ratelimit.Cost("first", 3)}, map[string]int64{"a": 3, "b": 1}, ""},
		{"cost 0 looks only", []ratelimit.Arg{ratelimit.Cost("first", 0)}, map[string]int64{"a": 0, "b": 1}, ""},
		{"skipped", []ratelimit.Arg{ratelimit.Cost("first", 3), ratelimit.SkipIf("second", true)}, map[string]int64{"a": 3}, ""},
		{"not skipped", []ratelimit.Arg{ratelimit.Cost("first", 3), ratelimit.SkipIf("second", false)}, map[string]int64{"a": 3, "b": 1}, ""},
		{"all skipped", []ratelimit.Arg{ratelimit.SkipIf("first", true), ratelimit.SkipIf("second", true)}, map[string]int64{}, ""},
		{"negative cost", []ratelimit.Arg{ratelimit.Cost("first", -1)}, nil, "ratelimit: the cost of limit first is -1: want at least 0"},
		{"no cost", nil, nil, "ratelimit: no Cost for limit first, whose rule has CostArg"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s script
			err := newLimiter(t, &s).Guard("m", rules...).Allow(t.Context(), tt.call...)
			if tt.want != "" {
				checkError(t, err, "m: rate limit undecided: "+tt.want)
				return
			}
			checkError(t, err, "")
			if len(s.asked) != len(tt.costs) {
				t.Errorf("asked about %q", s.keys)
			}
			for i, c := range s.asked {
				if want, ok := tt.costs[s.keys[i]]; !ok || c.Cost != want {
					t.Errorf("%s costs %d: want %v", s.keys[i], c.Cost, tt.costs)
				}
			}
		})
	}
}
