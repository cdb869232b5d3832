package ratelimit

import (
	"strconv"
	"strings"
	"time"
)

// maxTextPeriod is the longest period that a directive can have, and so the text of an override.
const maxTextPeriod = 366 * day

const day = 24 * time.Hour

// periodUnits are the units of a period, in the order in which they may follow each other.
var periodUnits = []struct {
	name string
	size time.Duration
}{
	{"d", day},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// parsePeriod reads a period as a directive has it: seconds, or a duration such as 1m30s. One that is too long is more than
// maxTextPeriod.
func parsePeriod(text string) (d time.Duration, ok bool) {
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text += "s"
	}
	units := periodUnits
	for rest := text; rest != ""; {
		unit := strings.TrimLeft(rest, "0123456789")
		digits := rest[:len(rest)-len(unit)]
		rest = strings.TrimLeft(unit, "dhms")
		name := unit[:len(unit)-len(rest)]
		for len(units) > 0 && units[0].name != name {
			units = units[1:]
		}
		if digits == "" || len(units) == 0 {
			return 0, false
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > int64(maxTextPeriod/units[0].size) {
			n = int64(maxTextPeriod/units[0].size) + 1
		}
		d = min(d+time.Duration(n)*units[0].size, maxTextPeriod+1)
		units = units[1:]
	}
	return d, text != ""
}

// periodText returns a period of whole milliseconds as parsePeriod reads it: 1d12h, 1m30s.
func periodText(d time.Duration) string {
	var text []byte
	for _, unit := range periodUnits {
		if n := d / unit.size; n > 0 {
			text = append(strconv.AppendInt(text, int64(n), 10), unit.name...)
			d -= n * unit.size
		}
	}
	return string(text)
}
