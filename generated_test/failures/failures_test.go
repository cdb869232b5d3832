package failures

import (
	"context"
	"errors"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

type mail struct{}

func (mail) Local(context.Context) error   { return nil }
func (mail) Open(context.Context) error    { return nil }
func (mail) Closed(context.Context) error  { return nil }
func (mail) Default(context.Context) error { return nil }
func (mail) Both(context.Context) error    { return nil }
func (mail) Shadow(context.Context) error  { return nil }

// broken is a store that is down.
type broken struct{ ratelimit.Store }

var errDown = errors.New("down")

func (broken) Take(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errDown }

func TestWhileTheStoreDoesNotAnswer(t *testing.T) {
	for _, test := range []struct {
		method string
		call   func(Mail, context.Context) error
		fails  error // of the third call; the first two go on unless it is errDown
	}{
		{"Local", Mail.Local, ratelimit.ErrLimited},
		{"Open", Mail.Open, nil},
		{"Closed", Mail.Closed, errDown},
		{"Default", Mail.Default, nil},
		{"Both", Mail.Both, errDown},
		{"Shadow", Mail.Shadow, nil},
	} {
		limiter, err := ratelimit.New(broken{}, ratelimit.OnFailure(ratelimit.FailOpen), ratelimit.LocalStore(memlimit.New()))
		if err != nil {
			t.Fatal(err)
		}
		m := NewRateLimitedMail(mail{}, limiter)
		for i := range 3 {
			want := test.fails
			if i < 2 && !errors.Is(want, errDown) {
				want = nil
			}
			if err := test.call(m, t.Context()); !errors.Is(err, want) {
				t.Errorf("%s: call %d: got %v, want %v", test.method, i+1, err, want)
			}
		}
	}
}

// A bucket is one whatever its users do while the store does not answer.
func TestOneBucket(t *testing.T) {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	m := NewRateLimitedMail(mail{}, limiter)
	if err := errors.Join(m.Local(t.Context()), m.Open(t.Context())); err != nil {
		t.Error(err)
	}
	if err := m.Closed(t.Context()); !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("got %v, want that the third call is refused", err)
	}
}
