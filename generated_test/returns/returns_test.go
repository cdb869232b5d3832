package returns

import (
	"context"
	"fmt"
	"slices"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// store notes whether what it refuses may be remembered.
type store struct {
	*memlimit.Store
	fresh []string
}

func (s *store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	for _, c := range charges {
		s.fresh = append(s.fresh, fmt.Sprint(c.Name, " ", c.Fresh))
	}
	return s.Store.Take(ctx, charges, results)
}

type account struct{}

func (account) Login(context.Context, string) error { return nil }
func (account) Reset(context.Context, string) error { return nil }
func (account) Import(context.Context) error        { return nil }
func (account) Export(context.Context) error        { return nil }
func (account) Own(context.Context) error           { return nil }
func (account) Slots(context.Context) error         { return nil }

// A refusal may be remembered where no call gives back to the bucket, and nowhere else.
func TestRefusalsOfBucketsThatAreGivenBackTo(t *testing.T) {
	s := &store{Store: memlimit.New()}
	limiter, err := ratelimit.New(s)
	if err != nil {
		t.Fatal(err)
	}
	a := NewRateLimitedAccount(account{}, limiter)
	for _, test := range []struct {
		method string
		call   func() error
		want   []string
	}{
		{"Login", func() error { return a.Login(t.Context(), "alice") }, []string{"1h true"}},
		{"Reset", func() error { return a.Reset(t.Context(), "alice") }, []string{"1h true"}},
		{"Import", func() error { return a.Import(t.Context()) }, []string{"1h true", "1s true"}},
		{"Export", func() error { return a.Export(t.Context()) }, []string{"1h true"}},
		{"Own", func() error { return a.Own(t.Context()) }, []string{"1h true"}},
		{"Slots", func() error { return a.Slots(t.Context()) }, []string{"slots false", "all false", "failures true"}},
	} {
		s.fresh = nil
		if err := test.call(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(s.fresh, test.want) {
			t.Errorf("%s: fresh are %v: want %v", test.method, s.fresh, test.want)
		}
	}
}
