package nilpaths

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type service struct {
	Service
	calls int
	user  *User
	err   error
}

func (s *service) Field(*Request) error                           { return nil }
func (s *service) Promoted(*Request) error                        { return nil }
func (s *service) Embedded(Request) error                         { return nil }
func (s *service) Calls(context.Context, *Request) error          { return nil }
func (s *service) Indexes(*Request, uint8) error                  { return nil }
func (s *service) Slices(*Request, string, int, int) error        { return nil }
func (s *service) Flags(context.Context, *Request) error          { return nil }
func (s *service) Bounds(string, int, int8) error                 { return nil }
func (s *service) Operators(*Request, []byte) error               { return nil }
func (s *service) Pointers(*Request) error                        { return nil }
func (s *service) Values(*url.URL, fmt.Stringer, *string) error   { return nil }
func (s *service) Texts(Ticket, *Page, Named, Marshaled) error    { return nil }
func (s *service) Cost(*Request) error                            { s.calls++; return nil }
func (s *service) Logic(*Request) error                           { s.calls++; return nil }
func (s *service) Asked(*Request) error                           { s.calls++; return nil }
func (s *service) Deep(context.Context, *Request) error           { s.calls++; return nil }
func (s *service) Refund(context.Context) (user *User, err error) { s.calls++; return s.user, s.err }

// A missing part is the first that is nil; no call panics.
func TestKeys(t *testing.T) {
	s := NewRateLimitedService(&service{}, limittest.Limiter(t))
	ann := &User{ID: "ann", boss: &User{ID: "bob", boss: &User{ID: "eve"}}}
	ctx := context.WithValue(t.Context(), userKey{}, ann)
	link, noLink, name := &url.URL{Host: "x.org"}, (*url.URL)(nil), "ann"
	some := Marshaled{&Inner{netip.MustParseAddr("1.2.3.4")}}
	for _, test := range []struct {
		call func() error
		want string
	}{
		{func() error { return s.Field(nil) }, "no req.User.ID"},
		{func() error { return s.Field(&Request{}) }, "no req.User.ID"},
		{func() error { return s.Field(&Request{User: ann}) }, "ann"},
		{func() error { return s.Promoted(nil) }, "no req.Region"},
		{func() error { return s.Promoted(&Request{}) }, "no req.Region"},
		{func() error { return s.Promoted(&Request{Origin: &Origin{"eu", "h"}}) }, "eu:h"},
		{func() error { return s.Embedded(Request{}) }, ":"}, // onempty=share
		{func() error { return s.Embedded(Request{Origin: &Origin{"eu", "h"}, Stringer: link}) }, "eu/h://x.org"},
		{func() error { return s.Calls(ctx, nil) }, "no req.User.Boss().Boss().ID"},
		{func() error { return s.Calls(ctx, &Request{User: ann.boss}) }, "no req.User.Boss().Boss().ID"},
		{func() error { return s.Calls(t.Context(), &Request{User: ann}) }, "no find(ctx).ID"},
		{func() error { return s.Calls(ctx, &Request{User: ann}) }, "eve:ann"},
		{func() error { return s.Indexes(nil, 0) }, "no req.Parts[0]"},
		{func() error { return s.Indexes(&Request{}, 0) }, "no req.Parts[0]"},
		{func() error { return s.Indexes(&Request{Parts: []string{"a"}}, 1) }, "no req.Parts[n]"},
		{func() error { return s.Indexes(&Request{Parts: []string{"a"}}, 0) }, `no req.Names["x"].ID`},
		{func() error {
			return s.Indexes(&Request{Parts: []string{"a"}, Names: map[string]*User{"x": ann}}, 0)
		}, "no req.Pair[1]"},
		{func() error {
			return s.Indexes(&Request{Parts: []string{"a"}, Names: map[string]*User{"x": ann}, Pair: &[2]string{"", "b"}}, 0)
		}, "a:a:ann:b"},
		{func() error { return s.Slices(nil, "id", 0, 1) }, "no req.Parts[from:to][0]"},
		{func() error { return s.Slices(&Request{Parts: []string{"a"}}, "id", 1, 0) }, "no req.Parts[from:to][0]"},
		{func() error { return s.Slices(&Request{Parts: []string{"a"}}, "id", -1, 1) }, "no req.Parts[from:to][0]"},
		{func() error { return s.Slices(&Request{Parts: []string{"a"}}, "id", 0, 2) }, "no req.Parts[from:to][0]"},
		{func() error { return s.Slices(&Request{Parts: []string{"a"}}, "id", 1, 1) }, "no req.Parts[from:to][0]"},
		{func() error { return s.Slices(&Request{Parts: []string{"a"}}, "i", 0, 1) }, "no id[:2]"},
		{func() error { return s.Slices(&Request{Parts: []string{"a", "b", "c"}}, "id", 2, 3) }, "no id[from:]"}, // empty
		{func() error { return s.Slices(&Request{Parts: []string{"a", "b"}}, "id", 1, 2) }, "b:id:d"},
		{func() error { return s.Flags(t.Context(), &Request{User: &User{Admin: true}}) }, "flags:yes:yes"},
		{func() error { return s.Flags(t.Context(), nil) }, "flags:no:no"},
		{func() error { return s.Bounds("abcd", -1, 0) }, "no id[1:n]"},
		{func() error { return s.Bounds("abcd", 0, 0) }, "no id[1:n]"},
		{func() error { return s.Bounds("abcd", 5, 0) }, "no id[1:n]"},
		{func() error { return s.Bounds("abc", 2, 0) }, "no id[n:4]"},
		{func() error { return s.Bounds("abcd", 2, -1) }, "no id[u:n]"},
		{func() error { return s.Bounds("abcd", 2, 3) }, "no id[u:n]"},
		{func() error { return s.Bounds("abcd", 2, 0) }, "no id[u:200]"},
		{func() error { return s.Bounds(strings.Repeat("a", 200), 2, 127) }, "no id[u:n]"},
		{func() error { return s.Bounds(strings.Repeat("a", 200), 2, 0) }, "a:aa:aa:#c2a908d98f5df987ade41b5fce213067:194"},
		{func() error { return s.Operators(&Request{}, []byte("ab")) }, "no req.Page / req.Size"},
		{func() error { return s.Operators(&Request{Page: -4, Size: 2}, []byte("ab")) }, "no 1 << req.Page"},
		{func() error { return s.Operators(&Request{Page: 4, Size: 2}, []byte("a")) }, "no [2]byte(data)[0]"},
		{func() error { return s.Operators(&Request{Page: 4, Size: 2}, []byte("ab")) }, "2:16:97"},
		{func() error { return s.Pointers(&Request{}) }, "no (*req.Link).Host"},
		{func() error { return s.Pointers(&Request{Link: &noLink}) }, "no (*req.Link).Host"},
		{func() error { return s.Pointers(&Request{Link: &link}) }, "no req.Sign()"},
		{func() error { return s.Pointers(&Request{Link: &link, Sign: func() string { return "s" }}) }, "x.org:s"},
		{func() error { return s.Values(nil, link, &name) }, "no addr"},
		{func() error { return s.Values(link, nil, &name) }, "no who"},
		{func() error { return s.Values(link, link, nil) }, "no *name"},
		{func() error { return s.Values(link, link, &name) }, "//x.org://x.org:ann"},
		{func() error { return s.Texts(Ticket{}, &Page{link, 0}, Named{link}, some) }, "no ticket"},
		{func() error { return s.Texts(Ticket{&Number{"7"}}, nil, Named{link}, some) }, "no page"},
		{func() error { return s.Texts(Ticket{&Number{"7"}}, &Page{}, Named{link}, some) }, "no page"},
		{func() error { return s.Texts(Ticket{&Number{"7"}}, &Page{link, 0}, Named{}, some) }, "no named"},
		{func() error { return s.Texts(Ticket{&Number{"7"}}, &Page{link, 0}, Named{link}, Marshaled{}) }, "no marshaled"},
		{func() error { return s.Texts(Ticket{&Number{"7"}}, &Page{link, 0}, Named{link}, Marshaled{&Inner{}}) }, "no marshaled"},
		{func() error { return s.Texts(Ticket{&Number{"7"}}, &Page{link, 0}, Named{link}, some) }, "texts:7://x.org://x.org:1.2.3.4"},
	} {
		if got := limittest.Key(t, 2, test.call); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
}

type pointers struct{ Pointers[url.URL, *url.URL] }

func (pointers) Get(p, q *url.URL) error { return nil }

func TestPointersOfTypeParameters(t *testing.T) {
	s := NewRateLimitedPointers[url.URL, *url.URL](pointers{}, limittest.Limiter(t))
	link := &url.URL{Host: "x.org"}
	for _, test := range []struct {
		p, q *url.URL
		want string
	}{
		{nil, link, "no p"},
		{link, nil, "no q.String()"},
		{link, link, "parameter://x.org://x.org"},
	} {
		if got := limittest.Key(t, 2, func() error { return s.Get(test.p, test.q) }); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
}

func TestCost(t *testing.T) {
	s := NewRateLimitedService(&service{}, limittest.Limiter(t))
	for _, req := range []*Request{nil, {}, {User: &User{Quota: 7}}} { // 1, 1 and 7 of 10
		if err := s.Cost(req); err != nil {
			t.Fatal(err)
		}
	}
	limittest.Admits(t, 1, "nilpaths.Service.Cost", func() error { return s.Cost(nil) })
}

func TestSkip(t *testing.T) {
	ann, admin := &User{ID: "ann"}, &User{Admin: true}
	named := func(u *User) map[string]*User { return map[string]*User{"ann": u, "x": u} }
	for _, test := range []struct {
		req                *Request
		logic, asked, deep bool
	}{
		{nil, false, true, false},
		{&Request{}, false, false, false},
		{&Request{User: ann}, false, false, false},
		{&Request{User: admin}, true, true, false},
		{&Request{Names: named(ann)}, false, false, false}, // neither an admin nor none
		{&Request{Names: named(ann), User: ann}, true, false, false},
		{&Request{Names: named(ann), User: admin}, true, true, true},
		{&Request{Names: named(admin), User: admin}, true, true, false},
		{&Request{Parts: []string{"x", "x"}}, false, false, false},
		{&Request{Parts: []string{"", "x"}, User: ann}, false, true, false},
		{&Request{Parts: []string{"x"}, User: ann}, false, false, false},
	} {
		s := NewRateLimitedService(&service{}, limittest.Limiter(t))
		ctx := context.WithValue(t.Context(), userKey{}, &User{boss: ann})
		skipped := func(call func() error) bool { return call() == nil && call() == nil }
		if got := skipped(func() error { return s.Logic(test.req) }); got != test.logic {
			t.Errorf("Logic(%+v): skipped is %t", test.req, got)
		}
		if got := skipped(func() error { return s.Asked(test.req) }); got != test.asked {
			t.Errorf("Asked(%+v): skipped is %t", test.req, got)
		}
		if got := skipped(func() error { return s.Deep(ctx, test.req) }); got != test.deep {
			t.Errorf("Deep(%+v): skipped is %t", test.req, got)
		}
		if skipped(func() error { return s.Deep(t.Context(), test.req) }) {
			t.Errorf("Deep(%+v): skipped without a user", test.req)
		}
	}
}

func TestRefund(t *testing.T) {
	ctx := context.Background()
	admin := &User{Admin: true}
	for _, test := range []struct {
		user    *User
		admits1 bool // the second call, by the limit of one
		admits2 bool // the third call, by the limit of two
	}{
		{nil, false, false},
		{&User{}, false, false},
		{&User{boss: admin}, true, false},
		{&User{Admin: true, boss: &User{ID: "x", Admin: true}}, true, true},
		{&User{Admin: true, boss: &User{ID: "y", Admin: true}}, true, false},
	} {
		next := &service{user: test.user}
		s := NewRateLimitedService(next, limittest.Limiter(t))
		var got []bool
		for range 3 {
			user, err := s.Refund(ctx)
			if err == nil && user != test.user {
				t.Errorf("got %v, want %v", user, test.user)
			}
			got = append(got, err == nil)
		}
		if !got[0] || got[1] != test.admits1 || got[2] != test.admits2 {
			t.Errorf("%+v: calls are admitted: %v", test.user, got)
		}
	}
}
