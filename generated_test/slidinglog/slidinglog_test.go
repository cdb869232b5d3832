package slidinglog

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type mail struct{ err error }

func (mail) Send(context.Context, string) error       { return nil }
func (m *mail) Bulk(context.Context, ...string) error { return m.err }

func TestSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewRateLimitedMail(&mail{}, limittest.Limiter(t))
		send := func() error { return m.Send(t.Context(), "ann") }
		limittest.Admits(t, 1, "slidinglog.Mail.Send", func() error {
			if err := send(); err != nil {
				return err
			}
			time.Sleep(4 * time.Second)
			return send()
		})
		time.Sleep(6*time.Second - 1) // the first of the two is 10s old in a microsecond
		limittest.Admits(t, 0, "slidinglog.Mail.Send", send)
		time.Sleep(time.Microsecond)
		limittest.Admits(t, 1, "slidinglog.Mail.Send", send)
	})
}

func TestBulk(t *testing.T) {
	next := &mail{err: errors.New("broken")}
	m := NewRateLimitedMail(next, limittest.Limiter(t))
	for range 3 {
		if err := m.Bulk(t.Context(), "a", "b", "c", "d"); !errors.Is(err, next.err) {
			t.Fatal(err)
		}
	}
	next.err = nil
	limittest.Admits(t, 1, "slidinglog.Mail.Bulk", func() error { return m.Bulk(t.Context(), "a", "b", "c") })
}
