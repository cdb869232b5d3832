package fixedwindow_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/fixedwindow"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type mailer struct{ limittest.Calls }

func (m *mailer) Send(_ context.Context, to string) error {
	m.Add("Send", to)
	return nil
}

func TestWindowStartsAtTheFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next mailer
		m := fixedwindow.NewRateLimitedMailer(&next, limittest.Limiter(t))
		send := func() error { return m.Send(t.Context(), "a@example.org") }
		limittest.Admits(t, 3, "fixedwindow.Mailer.Send", send)
		time.Sleep(89 * time.Second)
		limittest.Admits(t, 0, "fixedwindow.Mailer.Send", send)
		time.Sleep(time.Second)
		limittest.Admits(t, 3, "fixedwindow.Mailer.Send", send)
		next.Want(t, 6, "Send", "a@example.org")
	})
}
