package private

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/private/api"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type server struct {
	limittest.Calls
	api.UnimplementedServer
}

func (s *server) Check(_ context.Context, name string) (bool, error) {
	s.Add("Check", name)
	return true, nil
}

func (s *server) Watch(name string) { s.Add("Watch", name) }

func (s *server) stop() error {
	s.Add("stop")
	return nil
}

func TestServer(t *testing.T) {
	var next server
	s := NewRateLimitedServer(&next, limittest.Limiter(t))
	var _ api.Server = s
	ctx := ratelimit.WithCaller(t.Context(), "user", "ann")
	limittest.Admits(t, 2, "private.Server.Check", func() error {
		ok, err := s.Check(ctx, "a")
		if ok != (err == nil) {
			t.Errorf("got %v, %v", ok, err)
		}
		return err
	})
	next.Want(t, 2, "Check", "a")
	s.Watch("b")
	next.Want(t, 3, "Watch", "b")
	limittest.Admits(t, 1, "private.Server.stop", s.stop)
	if s.Unwrap() != Server(&next) {
		t.Error("Unwrap: got another value")
	}
}

type sealed struct{ api.UnimplementedServer }

func (sealed) Get(context.Context) error { return nil }

// A default on an interface means the methods that can be limited.
func TestDefault(t *testing.T) {
	ctx := t.Context()
	guarded := NewRateLimitedGuarded(sealed{}, limittest.Limiter(t))
	limittest.Admits(t, 1, "private.Guarded.Get", func() error { return guarded.Get(ctx) })
	embedding := NewRateLimitedEmbedding(sealed{}, limittest.Limiter(t))
	limittest.Admits(t, 1, "private.Embedding.Get", func() error { return embedding.Get(ctx) })
	var _, _ api.Sealed = guarded, embedding
}
