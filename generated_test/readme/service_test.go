package readme_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/readme"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type service struct{ limittest.Calls }

var errDown = errors.New("down")

func (s *service) TestGet(_ context.Context, id string) (*readme.Result, error) {
	s.Add("TestGet", id)
	if id == "down" {
		return nil, errDown
	}
	return &readme.Result{ID: id}, nil
}

func from(addr string) context.Context {
	return ratelimit.WithClientIP(context.Background(), netip.MustParseAddr(addr))
}

func TestEachClientHasItsOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next service
		svc := readme.NewRateLimitedTestService(&next, limittest.Limiter(t))
		get := func(addr string) func() error {
			return func() error {
				_, err := svc.TestGet(from(addr), "a")
				return err
			}
		}
		limittest.Admits(t, 5, "readme.TestService.TestGet", get("203.0.113.7"))
		limittest.Admits(t, 5, "readme.TestService.TestGet", get("203.0.113.8"))
		next.Want(t, 10, "TestGet", "a")

		time.Sleep(time.Second)
		limittest.Admits(t, 5, "readme.TestService.TestGet", get("203.0.113.7"))
	})
}

func TestResultsAndErrorsPassThrough(t *testing.T) {
	svc := readme.NewRateLimitedTestService(&service{}, limittest.Limiter(t))
	result, err := svc.TestGet(from("203.0.113.7"), "a")
	if err != nil || *result != (readme.Result{ID: "a"}) {
		t.Errorf("got %v, %v", result, err)
	}
	if _, err := svc.TestGet(from("203.0.113.7"), "down"); !errors.Is(err, errDown) {
		t.Errorf("got error %v, want %v", err, errDown)
	}
}

func TestRefusedCallReturnsZeroValues(t *testing.T) {
	svc := readme.NewRateLimitedTestService(&service{}, limittest.Limiter(t))
	// Nobody is known by an address here, so that the limit cannot tell whose call it is.
	result, err := svc.TestGet(context.Background(), "a")
	if result != nil || !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("got %v, %v, want nil and a refusal", result, err)
	}
}

func TestUnwrap(t *testing.T) {
	var next service
	if got := readme.NewRateLimitedTestService(&next, limittest.Limiter(t)).Unwrap(); got != &next {
		t.Errorf("got %v, want the decorated service", got)
	}
}
