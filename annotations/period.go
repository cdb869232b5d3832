package annotations

import (
	"strconv"
	"strings"
	"time"
)

const (
	day       = 24 * time.Hour
	minPeriod = time.Millisecond
	maxPeriod = 366 * day

	periodRange = "1ms to 366d"
)

// units are the units of a duration, in the order in which they may follow each other.
var units = []struct {
	name string
	size time.Duration
}{
	{"d", day},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// parseDuration reads a duration such as 1m30s, which is not empty. One that is too long for a period is maxPeriod+1 at
// least.
func parseDuration(s string) (d time.Duration, ok bool) {
	next := 0 // unit
	for s != "" {
		digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
		s = s[len(digits):]
		name := s[:len(s)-len(strings.TrimLeft(s, "dhms"))]
		s = s[len(name):]
		for next < len(units) && units[next].name != name {
			next++
		}
		if digits == "" || next == len(units) {
			return 0, false
		}
		d = min(d+times(digits, units[next].size), maxPeriod+1)
		next++
	}
	return d, true
}

// times returns digits units, or maxPeriod+1 when that is too long.
func times(digits string, unit time.Duration) time.Duration {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > int64(maxPeriod/unit) {
		return maxPeriod + 1
	}
	return time.Duration(n) * unit
}

// isDigits reports whether s is an unsigned decimal integer.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// parsePeriod reads the value of time and wait, and returns it with its unit as text.
func parsePeriod(v value) (time.Duration, string, Errors) {
	text := v.text
	if isDigits(text) {
		text += "s"
	}
	d, ok := parseDuration(text)
	switch {
	case !ok:
		return 0, "", v.want("want seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d")
	case d < minPeriod || d > maxPeriod:
		return 0, "", v.want("want %s", periodRange)
	}
	return d, text, nil
}

func setTime(a *Annotation, v value) (errs Errors) {
	a.Period, a.PeriodText, errs = parsePeriod(v)
	return errs
}

func setWait(a *Annotation, v value) (errs Errors) {
	a.Wait, _, errs = parsePeriod(v)
	return errs
}

// setRate reads a rate such as 5/s or 20/15m. A unit alone is one of it; bare seconds are no period here, since 5/60
// reads as a fraction.
func setRate(a *Annotation, v value) Errors {
	count, period, _ := strings.Cut(v.text, "/")
	if strings.IndexAny(period, "0123456789") != 0 {
		period = "1" + period
	}
	d, ok := parseDuration(period)
	if whole := wholeRate(count, period); ok && whole != "" {
		return v.want("want a whole count, such as %s", whole)
	}
	if !ok || !isDigits(count) {
		return v.want("want a count and a period, such as 5/s, 100/m, 1000/h, 10/d, 20/15m")
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 || n > maxCount {
		return v.want("want a count of 1 to %d", maxCount)
	}
	if d < minPeriod || d > maxPeriod {
		return v.want("want a period of %s", periodRange)
	}
	a.Count, a.Period, a.PeriodText = n, d, period
	return nil
}

// maxDecimals keeps what a fraction is shown as readable, and within an int64.
const maxDecimals = 3

// wholeRate returns the rate of which count, a decimal fraction, and a period of one unit are another spelling, or "".
func wholeRate(count, period string) string {
	whole, decimals, ok := strings.Cut(count, ".")
	unit, isOne := strings.CutPrefix(period, "1")
	if !ok || !isOne || strings.ContainsAny(unit, "0123456789") || !isDigits(decimals) || len(decimals) > maxDecimals {
		return ""
	}
	n, err := strconv.ParseInt(whole+decimals, 10, 64)
	if err != nil || n <= 0 {
		return ""
	}
	periods := int64(1)
	for range decimals {
		periods *= 10
	}
	for _, prime := range []int64{2, 5} {
		for n%prime == 0 && periods%prime == 0 {
			n, periods = n/prime, periods/prime
		}
	}
	if periods == 1 {
		return strconv.FormatInt(n, 10) + "/" + unit
	}
	return strconv.FormatInt(n, 10) + "/" + strconv.FormatInt(periods, 10) + unit
}
