package embedded

import (
	"io"
	"strings"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type desk struct{ limittest.Calls }

func (d *desk) Write(s string) error {
	d.Add("Write", s)
	return nil
}

func (d *desk) Open() (lock, error) {
	d.Add("Open")
	return d, nil
}

func (d *desk) Turn(times int) error {
	d.Add("Turn", times)
	return nil
}

func (d *desk) String() string { return "desk" }

func (d *desk) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, "desk")
	return int64(n), err
}

// U09
func TestDesk(t *testing.T) {
	var next desk
	d := NewRateLimitedDesk(&next, limittest.Limiter(t))
	limittest.Admits(t, 1, "embedded.Desk.Write", func() error { return d.Write("a") })
	limittest.Admits(t, 2, "embedded.Desk.Open", func() error {
		got, err := d.Open()
		if err == nil && got != &next {
			t.Errorf("Open: got %v", got)
		}
		return err
	})
	limittest.Admits(t, 3, "embedded.Desk.Turn", func() error { return d.Turn(7) })
	next.Want(t, 6, "Turn", 7)

	var text strings.Builder
	limittest.Admits(t, 4, "embedded.Desk.WriteTo", func() error {
		_, err := d.WriteTo(&text)
		return err
	})
	if text.String() != strings.Repeat("desk", 4) || d.String() != "desk" {
		t.Errorf("got %q and %q", text.String(), d)
	}
}

type pipe struct{}

func (pipe) Read(p []byte) (int, error)  { return len(p), nil }
func (pipe) Write(p []byte) (int, error) { return len(p), nil }
func (pipe) Close() error                { return nil }

func TestMethodBroughtTwice(t *testing.T) {
	p := NewRateLimitedPipe(pipe{}, limittest.Limiter(t))
	limittest.Admits(t, 1, "embedded.Pipe.Read", func() error { _, err := p.Read(nil); return err })
	limittest.Admits(t, 3, "embedded.Pipe.Write", func() error { _, err := p.Write(nil); return err })
	limittest.Admits(t, 2, "embedded.Pipe.Close", p.Close)
}

type notFound struct{}

func (notFound) Error() string              { return "not found" }
func (notFound) Missing() ([]string, error) { return []string{"a"}, nil }

func TestErrorIsForwarded(t *testing.T) {
	n := NewRateLimitedNotFound(notFound{}, limittest.Limiter(t))
	if n.Error() != "not found" {
		t.Errorf("got %q", n.Error())
	}
	limittest.Admits(t, 1, "embedded.NotFound.Missing", func() error {
		_, err := n.Missing()
		return err
	})
}

type crate struct{}

func (crate) Fill(string) error { return nil }
func (crate) Clear() error      { return nil }
func (crate) Weigh() int        { return 7 }
func (crate) Close() error      { return nil }

func TestDefaultOnInterfaceWithoutName(t *testing.T) {
	c := NewRateLimitedCrate(crate{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "embedded.Crate.Fill", func() error { return c.Fill("a") })
	limittest.Admits(t, 3, "embedded.Crate.Clear", c.Clear)
	limittest.Admits(t, 4, "embedded.Crate.Close", c.Close)
	if c.Weigh() != 7 {
		t.Errorf("got %d", c.Weigh())
	}
}
