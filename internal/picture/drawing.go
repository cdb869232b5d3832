package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Lengths in pixels, of the picture as the README shows it.
const (
	width  = 830
	margin = 16
	left   = 200 // where time begins
	top    = 124 // of the first row
	pitch  = 90  // from row to row
	below  = 12  // from the base of a row to its end
	bottom = 36  // below the last row
	unit   = 3.5 // height of a call
	gap    = 1   // between calls

	// column is the time whose calls stand on each other.
	column = 100 * time.Millisecond
)

// pixels is a length or a place in the picture. It is written to a tenth.
type pixels float64

// String implements [fmt.Stringer].
func (p pixels) String() string {
	return strconv.FormatFloat(math.Round(float64(p)*10)/10, 'f', -1, 64)
}

// x returns where a time is.
func x(t time.Duration) pixels {
	return left + (width-margin-left)*pixels(min(t, span))/pixels(span)
}

// drawing is what the template shows.
type drawing struct {
	Width, Height, Left, Right, Top, Bottom int

	Count, Calls    int
	Lasts           float64 // seconds
	Seconds, Phases []label
	Rows            []row
}

type point struct{ X, Y pixels }

type label struct {
	X    pixels
	Text string
}

func newDrawing() *drawing {
	d := &drawing{
		Width:  width,
		Height: top + len(rows)*pitch + bottom,
		Left:   left,
		Right:  width - margin,
		Top:    top,
		Bottom: top + len(rows)*pitch,
		Count:  count,
		Lasts:  lasts.Seconds(),
	}
	for t := time.Duration(0); t <= span; t += time.Second {
		d.Seconds = append(d.Seconds, label{x(t), fmt.Sprintf("%.0f s", t.Seconds())})
	}
	for _, p := range traffic {
		d.Calls += p.calls
		first, last := p.from.Truncate(column), p.from+time.Duration(p.calls-1)*p.every
		d.Phases = append(d.Phases, label{(x(first) + x(last.Truncate(column)+column)) / 2, p.name})
	}
	return d
}

func (d *drawing) base(i int) pixels { return pixels(top + (i+1)*pitch - below) }

// row shows one limit. What counts in it are the calls of the last second or, of a concurrency limit, those under way.
type row struct {
	Name, Attribute   string
	Base, Limit       pixels // heights of no call and of count
	Under, Over       string // what counts, up to count and above
	Admitted, Refused string
	Sum               int   // of the admitted calls
	Most              int   // that counted at once
	Peak              point // where
	AtOnce            bool
	InASecond         int // most calls
}

func newRow(base pixels, calls []call, algorithm ratelimit.Algorithm) row {
	r := row{Base: base, AtOnce: algorithm == ratelimit.Concurrency}
	r.Limit = r.y(count)
	counting := levels(calls, period)
	r.InASecond, _ = highest(counting)
	if r.AtOnce {
		counting = levels(calls, lasts)
	}
	var at time.Duration
	r.Most, at = highest(counting)
	r.Peak = point{x(at), r.y(r.Most)}
	r.Under = r.area(counting, 0, count)
	r.Over = r.area(counting, count, max(count, r.Most))
	r.draw(calls)
	return r
}

// y returns the height of so many calls.
func (r *row) y(calls int) pixels { return r.Base - pixels(calls)*unit }

// area returns the outline of what lies under the levels, between two of them.
func (r *row) area(levels []level, low, high int) string {
	var path strings.Builder
	fmt.Fprintf(&path, "M%v %v", x(0), r.y(low))
	for _, l := range levels {
		fmt.Fprintf(&path, "H%vV%v", x(l.from), r.y(min(max(l.calls, low), high)))
	}
	fmt.Fprintf(&path, "H%vV%vZ", x(span), r.y(low))
	return path.String()
}

// draw draws the calls, those of a column on each other.
func (r *row) draw(calls []call) {
	var admitted, refused strings.Builder
	w, h := x(column)-x(0)-gap, pixels(unit-gap)
	stacked := map[time.Duration]int{}
	for _, c := range calls {
		from := c.at.Truncate(column)
		stacked[from]++
		path := &refused
		if c.admitted {
			r.Sum++
			path = &admitted
		}
		fmt.Fprintf(path, "M%v %vh%vv%vh%vz", x(from)+gap/2., r.y(stacked[from])+gap/2., w, h, -w)
	}
	r.Admitted, r.Refused = admitted.String(), refused.String()
}
