package concise

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type service struct{ calls int }

func (s *service) Once(*Conn) error                       { return nil }
func (s *service) Converted(*Conn, uint8, int64) error    { return nil }
func (s *service) Array([]int) error                      { s.calls++; return nil }
func (s *service) Wide(context.Context, *Pool, int) error { s.calls++; return nil }
func (s *service) Back(*Pool) error                       { s.calls++; return nil }

func TestKeys(t *testing.T) {
	s := NewRateLimitedService(&service{}, limittest.Limiter(t))
	for _, test := range []struct {
		call func() error
		want string
	}{
		{func() error { return s.Once(nil) }, "no c.Config().User"},
		{func() error { return s.Once(&Conn{}) }, "no c.Config().User"},
		{func() error { return s.Once(&Conn{config: &Config{"ann", "h", "1"}}) }, "once:ann:h:1"},
		{func() error { return s.Converted(&Conn{Partition: 3}, 255, 7) }, "converted:3:255:7"},
	} {
		if got := limittest.Key(t, 4, test.call); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
}

func TestACallInSeveralPartsOfAKeyIsMadeOnce(t *testing.T) {
	c := &Conn{config: &Config{"ann", "h", "1"}}
	if err := NewRateLimitedService(&service{}, limittest.Limiter(t)).Once(c); err != nil || c.configs != 1 {
		t.Errorf("got error %v and %d calls, want 1", err, c.configs)
	}
}

func TestConditions(t *testing.T) {
	poolOf := func(partitions ...int32) *Pool {
		pool := &Pool{}
		for _, n := range partitions {
			pool.Conns = append(pool.Conns, &Conn{Partition: n})
		}
		return pool
	}
	for _, test := range []struct {
		what string
		call func(Service) error
		want int // calls that reach the service, of three
	}{
		{"no elements", func(s Service) error { return s.Array(nil) }, 1},
		{"too few", func(s Service) error { return s.Array([]int{2}) }, 1},
		{"others", func(s Service) error { return s.Array([]int{2, 1}) }, 1},
		{"enough", func(s Service) error { return s.Array([]int{1, 2}) }, 3},
		{"no pool", func(s Service) error { return s.Wide(t.Context(), nil, 0) }, 1},
		{"an idle pool", func(s Service) error { return s.Wide(t.Context(), poolOf(2, 0, 0), 0) }, 3},
		{"a busy pool", func(s Service) error { return s.Wide(t.Context(), poolOf(2, 2, 0), 0) }, 1},
		{"no pool to give back", func(s Service) error { return s.Back(nil) }, 1},
		{"idle ones", func(s Service) error { return s.Back(poolOf(2, 2, 1)) }, 1},
		{"all busy", func(s Service) error { return s.Back(poolOf(2, 2, 2)) }, 3},
	} {
		next := &service{}
		s := NewRateLimitedService(next, limittest.Limiter(t))
		for range 3 {
			_ = test.call(s)
		}
		if next.calls != test.want {
			t.Errorf("%s: %d calls reach the service, want %d", test.what, next.calls, test.want)
		}
	}
}
