package keyexpressions

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type keys struct{ limittest.Calls }

func (k *keys) Kinds(UserID, Secret, Level, []byte, bool) error  { return nil }
func (k *keys) Integers(int8, uint64, rune, uintptr) error       { return nil }
func (k *keys) Texts(net.IP, netip.Addr, Point, time.Time) error { return nil }
func (k *keys) Unnamed(string, bool, *int) error                 { return nil }
func (k *keys) Blank(string, int, int) error                     { return nil }
func (k *keys) Paths(Request) error                              { return nil }
func (k *keys) Package(_ context.Context, ids ...string) error   { k.Add("Package", ids); return nil }
func (k *keys) Operators(string, int) error                      { return nil }
func (k *keys) Aliases(ID, Number, Link) error                   { return nil }
func (k *keys) Once(string) error                                { return nil }
func (k *keys) Braces() error                                    { return nil }
func (k *keys) Twice(id string) error                            { return nil }

func TestKeys(t *testing.T) {
	var next keys
	k := NewRateLimitedKeys(&next, limittest.Limiter(t))
	ctx := context.WithValue(t.Context(), tenantKey{}, "acme")
	n := 3
	for _, test := range []struct {
		call func() error
		want string
	}{
		{func() error { return k.Kinds("u:1", "s", 2, []byte("tok"), true) }, "u%3A1:s:2:tok:true"},
		{func() error { return k.Integers(-1, 1<<63, 'x', 7) }, "-1:9223372036854775808:120:7"},
		{func() error {
			return k.Texts(net.IPv4(192, 0, 2, 1), netip.MustParseAddr("2001:db8::1"), Point{1, 2}, time.Unix(0, 0).UTC())
		}, "192.0.2.1:2001%3Adb8%3A%3A1:xyy:1970-01-01T00%3A00%3A00Z"},
		{func() error { return k.Unnamed("a", false, &n) }, "a:false:3"},
		{func() error { return k.Unnamed("a", false, nil) }, "no *$2"},
		{func() error { return k.Unnamed("", false, &n) }, "no $0"},
		{func() error { return k.Blank("a", 1, 2) }, "a:1:2"},
		{func() error {
			return k.Paths(Request{Tenant: "Acme", Limits: map[string]uint8{"x": 9}, Grid: [2][2]int{{}, {4, 0}}})
		}, "Acme:acme:4:9:A"},
		{func() error { return k.Package(ctx, "i", "j") }, "acme:eu:2:120:a%7Deu:2:i:i"},
		{func() error { return k.Operators(" a ", 13) }, "a: true:-13:5:26: a :13"},
		{func() error { return k.Aliases("a", 2, &Point{3, 1}) }, "a:2:xxxy:3"},
		{func() error { return k.Aliases("a", 2, nil) }, "no link"},
		{func() error { return k.Once("a") }, "a:a"},
		{func() error { return k.Braces() }, "1:2"},
		{func() error { return k.Twice("a") }, "a:a:a:a"},
	} {
		if got := limittest.Key(t, 2, test.call); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
	next.Want(t, 1, "Package", []string{"i", "j"})
}

func TestOnce(t *testing.T) {
	k := NewRateLimitedKeys(&keys{}, limittest.Limiter(t))
	before := evaluations
	if err := k.Once("a"); err != nil {
		t.Fatal(err)
	}
	if n := evaluations - before; n != 1 {
		t.Errorf("the expression is evaluated %d times, want once", n)
	}
}
