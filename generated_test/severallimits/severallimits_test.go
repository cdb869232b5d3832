package severallimits_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/severallimits"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type search struct{ limittest.Calls }

func (s *search) Query(_ context.Context, text string) ([]string, error) {
	s.Add("Query", text)
	return []string{text}, nil
}

func (s *search) Suggest(_ context.Context, prefix string) ([]string, error) {
	s.Add("Suggest", prefix)
	return []string{prefix}, nil
}

func TestAllLimitsMustAllow(t *testing.T) {
	var next search
	s := severallimits.NewRateLimitedSearch(&next, limittest.Limiter(t))
	ctx := ratelimit.WithCaller(context.Background(), "user", "ann")
	limittest.Admits(t, 2, "severallimits.Search.Query", func() error {
		hits, err := s.Query(ctx, "go")
		if err == nil && !slices.Equal(hits, []string{"go"}) {
			t.Errorf("got %v", hits)
		}
		return err
	})
	next.Want(t, 2, "Query", "go")
}

func TestRefusalNamesTheLimit(t *testing.T) {
	s := severallimits.NewRateLimitedSearch(&search{}, limittest.Limiter(t))
	for _, test := range []struct {
		user, tenant string
		calls        int
		name         string
	}{
		{user: "ann", tenant: "acme", calls: 5, name: "each"},
		{user: "bob", tenant: "acme", calls: 5, name: "each"}, // a bucket for each pair
		{user: "", tenant: "acme", calls: 5, name: "each"},    // onempty=share
		{user: "ann", tenant: "", calls: 5, name: "each"},     // onempty=allow leaves the second limit out
	} {
		ctx := ratelimit.WithCaller(context.Background(), "user", test.user)
		ctx = ratelimit.WithCaller(ctx, "tenant", test.tenant)
		var refusal *ratelimit.LimitError
		limittest.Admits(t, test.calls, "severallimits.Search.Suggest", func() error {
			_, err := s.Suggest(ctx, "g")
			errors.As(err, &refusal)
			return err
		})
		if refusal.Name != test.name {
			t.Errorf("user %q of %q is refused by limit %s, want %s", test.user, test.tenant, refusal.Name, test.name)
		}
	}
}
