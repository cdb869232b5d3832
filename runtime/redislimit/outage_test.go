package redislimit_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S05: an outage is one line in the log, not one a call, and neither silent.
func TestOutageIsOneLineInTheLog(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		var log bytes.Buffer
		before := slog.Default()
		defer slog.SetDefault(before)
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))

		client := &fake{do: failing("OOM command not allowed when used memory > 'maxmemory'.")}
		store := redislimit.NewOn(client, nil)
		fails(t, store, "a", 5, redislimit.KindMemory)
		fails(t, store, "a", 1000, redislimit.KindOutage)
		client.serve(nil)
		time.Sleep(time.Second)
		fails(t, store, "a", 1000, "")
		const want = `level=WARN msg="ratelimit: Redis is off the path of calls until it answers" server=redis error="OOM command not allowed when used memory > 'maxmemory'."
level=INFO msg="ratelimit: Redis is back on the path of calls" server=redis
`
		if log.String() != want {
			t.Errorf("logged\n%swant\n%s", &log, want)
		}
	})
}

func TestNobodyIsTold(t *testing.T) {
	client := &fake{do: failing("LOADING Redis is loading the dataset in memory")}
	store := redislimit.NewOn(client, nil, redislimit.OnOutage(nil))
	fails(t, store, "a", 5, redislimit.KindLoading)
	fails(t, store, "a", 1, redislimit.KindOutage)
}
