package expressionnames

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type chat struct{ limittest.Calls }

func (c *chat) Parameters(ratelimit, call string, string *Request, len *Request, n uint32, byte []byte, uint64 bool) error {
	c.Add("Parameters", ratelimit, call, string, len, n, byte, uint64)
	return nil
}

func (c *chat) Functions(string, *Request) error { return nil }

func (c *chat) Imports(string, string) error { return nil }

func (c *chat) Results(err string, _ *Request) (*Session, error) {
	return &Session{OK: err == "free"}, nil
}

func (c *chat) SameNames(*Request, *Request) (*User, error) { return &User{ID: "u"}, nil }

func (c *chat) Unnamed(_ context.Context, id string, _, _ int) (*User, *User, error) {
	return &User{}, &User{ID: id}, nil
}

func (c *chat) Predeclared(uint16, bool, bool, bool, bool, *User) error { return nil }

func TestKeys(t *testing.T) {
	var next chat
	c := NewRateLimitedChat(&next, limittest.Limiter(t))
	ann := &Request{User: &User{ID: "ann"}, Tags: []string{"t"}}
	for _, test := range []struct {
		call func() error
		want string
	}{
		{func() error { return c.Parameters("r", "c", ann, ann, 0, nil, true) }, "r:c:ann:t"},
		{func() error { return c.Parameters("r", "c", ann, ann, 1, nil, true) }, "no $3.Tags[n]"},
		{func() error { return c.Functions("i", ann) }, "i:i:s:err:c:user"},
		{func() error { return c.Imports("A", "B") }, "a:B"},
		{func() error { _, err := c.Results("err", ann); return err }, "err:ann"},
		{func() error { _, err := c.SameNames(ann, nil); return err }, "no b.User.ID"},
		{func() error { _, _, err := c.Unnamed(t.Context(), "id", 1, 2); return err }, "id"},
		{func() error { return c.Predeclared(7, true, false, true, true, nil) }, "7"},
	} {
		if got := limittest.Key(t, 2, test.call); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
	next.Want(t, 1, "Parameters", "r", "c", ann, ann, uint32(0), []byte(nil), true)
}

func TestRefunds(t *testing.T) {
	c := NewRateLimitedChat(&chat{}, limittest.Limiter(t))
	ann := &Request{User: &User{ID: "ann"}}
	for range 3 {
		if _, err := c.Results("x", ann); err != nil { // the parameter
			t.Fatal(err)
		}
		if _, err := c.Results("free", ann); err != nil { // the result
			t.Fatal(err)
		}
		if user, err := c.SameNames(ann, ann); err != nil || user.ID != "u" {
			t.Fatal(user, err)
		}
		if err := c.Predeclared(7, true, true, false, true, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSkip(t *testing.T) {
	c := NewRateLimitedChat(&chat{}, limittest.Limiter(t))
	for range 3 {
		if err := c.Functions("i", &Request{Tags: []string{"err"}}); err != nil {
			t.Fatal(err)
		}
	}
}
