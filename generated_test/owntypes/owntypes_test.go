package owntypes

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type fake struct{ limittest.Calls }

func (f *fake) Do(j job) (runner, error) {
	f.Add("Do", j)
	return f, nil
}

func (f *fake) Copy(j job) (job, error) {
	f.Add("Copy", j)
	return j, nil
}

func (f *fake) Swap(a, b job) (job, job) {
	f.Add("Swap", a, b)
	return b, a
}

func (f *fake) stop(r runner) error {
	f.Add("stop", r)
	return nil
}

// U08
func TestRunner(t *testing.T) {
	var next fake
	var r runner = newRateLimitedRunner(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "owntypes.runner.Do", func() error {
		got, err := r.Do(job{1})
		if err == nil && got != &next || err != nil && got != nil {
			t.Errorf("Do: got %v, %v", got, err)
		}
		return err
	})
	next.Want(t, 2, "Do", job{1})
	limittest.Admits(t, 2, "owntypes.runner.Copy", func() error {
		got, err := r.Copy(job{2})
		if err == nil && got != (job{2}) || err != nil && got != (job{}) {
			t.Errorf("Copy: got %v, %v", got, err)
		}
		return err
	})
	if a, b := r.Swap(job{3}, job{4}); a != (job{4}) || b != (job{3}) {
		t.Errorf("Swap: got %v, %v", a, b)
	}
	limittest.Admits(t, 2, "owntypes.runner.stop", func() error { return r.stop(&next) })
	next.Want(t, 7, "stop", &next)
}

type client struct{ closed bool }

func (*client) Call(v verb, _ string) (*reply, error) { return &reply{v}, nil }
func (c *client) close()                              { c.closed = true }

func TestClient(t *testing.T) {
	var next client
	c := NewRateLimitedClient(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "owntypes.Client.Call", func() error {
		got, err := c.Call(1, "/")
		if err == nil && got.verb != 1 || err != nil && got != nil {
			t.Errorf("Call: got %v, %v", got, err)
		}
		return err
	})
	if c.close(); !next.closed {
		t.Error("close is not forwarded")
	}
}
