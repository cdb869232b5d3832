// Package picture draws docs/algorithms.svg: what each algorithm admits of the same traffic. Every number in it comes from
// the memory store. Its test draws it, in the time of a testing/synctest bubble, and compares:
//
//	go test ./internal/picture -update
package picture

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// rows are the limits in the order of the picture, by their directives.
var rows = []struct {
	name, attribute string
	limit           ratelimit.Limit
}{
	{"token-bucket", "", ratelimit.Limit{Count: count, Period: period}},
	{"token-bucket", "refill=interval", ratelimit.Limit{Count: count, Period: period, Refill: ratelimit.Interval}},
	{"leaky-bucket", "burst=2", ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: count, Period: period, Burst: 2}},
	{"fixed-window", "", ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}},
	{"sliding-window", "", ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: count, Period: period}},
	{"sliding-log", "", ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: count, Period: period}},
	{"concurrency", "", ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: count, Period: lease}},
}

//go:embed algorithms.svg.tmpl
var source string

var picture = template.Must(template.New("algorithms.svg").Parse(source))

// Draw returns the picture. It takes as long as the traffic of all rows lasts.
func Draw() ([]byte, error) {
	d := newDrawing()
	for i, r := range rows {
		calls, err := play(r.limit)
		if err != nil {
			return nil, fmt.Errorf("picture: %s: %w", r.name, err)
		}
		row := newRow(d.base(i), calls, r.limit.Algorithm)
		row.Name, row.Attribute = r.name, r.attribute
		d.Rows = append(d.Rows, row)
	}
	var out bytes.Buffer
	if err := picture.Execute(&out, d); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
