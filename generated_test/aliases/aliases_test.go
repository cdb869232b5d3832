package aliases_test

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/aliases"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type feed struct{ ctx context.Context }

func (feed) Recv() (*aliases.Msg, error) { return &aliases.Msg{Body: "a"}, nil }
func (f feed) Context() context.Context  { return f.ctx }

type pairs struct{ limittest.Calls }

func (p *pairs) Put(k string, v int) error {
	p.Add("Put", k, v)
	return nil
}

func (p *pairs) Take(k string) (int, bool) {
	p.Add("Take", k)
	return 7, true
}

type store struct{ limittest.Calls }

func (s *store) Save(v aliases.Msg) error {
	s.Add("Save", v)
	return nil
}

func (s *store) Load(id string) (aliases.Msg, error) {
	s.Add("Load", id)
	return aliases.Msg{Body: id}, nil
}

type sink struct{ limittest.Calls }

func (s *sink) Write(p []byte) (int, error) {
	s.Add("Write", p)
	return len(p), nil
}

func (s *sink) Close() error {
	s.Add("Close")
	return nil
}

func TestFeed(t *testing.T) {
	var f aliases.Feed = aliases.NewRateLimitedFeed(feed{t.Context()}, limittest.Limiter(t))
	limittest.Admits(t, 2, "aliases.Feed.Recv", func() error {
		msg, err := f.Recv()
		if err == nil && msg.Body != "a" {
			t.Errorf("got %v", msg)
		}
		return err
	})
	if f.Context() != t.Context() {
		t.Error("Context: got another one")
	}
}

func TestPairs(t *testing.T) {
	var next pairs
	var p aliases.Pairs[int] = aliases.NewRateLimitedPairs(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "aliases.Pairs.Put", func() error { return p.Put("a", 1) })
	next.Want(t, 2, "Put", "a", 1)
	if v, ok := p.Take("b"); v != 7 || !ok {
		t.Errorf("Take: got %v, %v", v, ok)
	}
	next.Want(t, 3, "Take", "b")
}

func TestDefinedTypes(t *testing.T) {
	var next store
	u := aliases.NewRateLimitedUserStore(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "aliases.UserStore.Save", func() error { return u.Save(aliases.Msg{Body: "a"}) })
	next.Want(t, 2, "Save", aliases.Msg{Body: "a"})
	limittest.Admits(t, 3, "aliases.UserStore.Load", func() error {
		_, err := u.Load("b")
		return err
	})
	next.Want(t, 5, "Load", "b")

	var file sink
	s := aliases.NewRateLimitedSink(&file, limittest.Limiter(t))
	limittest.Admits(t, 2, "aliases.Sink.Write", func() error {
		n, err := s.Write([]byte("abc"))
		if err == nil && n != 3 {
			t.Errorf("Write: got %d", n)
		}
		return err
	})
	file.Want(t, 2, "Write", []byte("abc"))
	limittest.Admits(t, 2, "aliases.Sink.Close", s.Close)
}
