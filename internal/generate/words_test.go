package generate

import (
	"testing"
	"time"
)

func TestDurationsReadAsInDirectives(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second:                   "1s",
		1500 * time.Millisecond:       "1s500ms",
		90 * time.Second:              "1m30s",
		time.Hour:                     "1h",
		48*time.Hour + 10*time.Minute: "48h10m",
		time.Hour + time.Millisecond:  "1h1ms",
	} {
		if got := DurationText(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
