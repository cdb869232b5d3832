package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
)

// report is what came out.
type report struct {
	rows     []*row
	total    row
	leftOut  map[string][]*subject // by reason
	failures []*subject
}

// row is a line of the table.
type row struct {
	module, version                         string
	interfaces, decorated, methods, limited int
	leftOut, failed                         int
}

func newReport(modules []*module) *report {
	r := &report{total: row{module: "all"}, leftOut: map[string][]*subject{}}
	for _, m := range modules {
		line := &row{module: m.Path, version: m.Version}
		for _, s := range m.subjects {
			r.add(line, s)
			r.add(&r.total, s)
			switch {
			case s.reason != "":
				r.leftOut[s.reason] = append(r.leftOut[s.reason], s)
			case s.failure != "":
				r.failures = append(r.failures, s)
			}
		}
		r.rows = append(r.rows, line)
	}
	return r
}

func (r *report) add(line *row, s *subject) {
	line.interfaces++
	switch {
	case s.reason != "":
		line.leftOut++
	case s.failure != "":
		line.failed++
	default:
		line.decorated++
		line.methods += s.methods
		line.limited += len(s.limited) + len(s.others)
	}
}

// table returns the numbers in Markdown.
func (r *report) table() string {
	var text strings.Builder
	text.WriteString("| module | version | interfaces | decorated | methods | of them limited | left out | failures |\n")
	text.WriteString("|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, line := range append(r.rows[:len(r.rows):len(r.rows)], &r.total) {
		fmt.Fprintf(&text, "| %s | %s | %d | %d | %d | %d | %d | %d |\n", line.module, line.version,
			line.interfaces, line.decorated, line.methods, line.limited, line.leftOut, line.failed)
	}
	return text.String()
}

// markdown returns the page for the documentation.
func (r *report) markdown() []byte {
	var page bytes.Buffer
	fmt.Fprintf(&page, `<!-- Written by make sweep. -->

# The sweep

`+"`make sweep`"+` takes every exported interface of the standard library and of the modules below, and declares two that embed
it: one with a plain limit for each method that can be refused, and one with slots, refunds, fallbacks, and keys, costs and
conditions made of parameters. Where no method can be refused, the plain one gets another method that can. It generates the
decorators, generates again to see that nothing changes, and compiles and vets them. This is what came out on %s/%s.

%s`, runtime.GOOS, runtime.GOARCH, r.table())
	for _, reason := range []string{isUnnameable, hasNoArgs, isConstraint, hasNoMethods} {
		if list := r.leftOut[reason]; len(list) > 0 {
			fmt.Fprintf(&page, "\n## Left out: %s (%d)\n\n%s\n", reason, len(list), names(list))
		}
	}
	if len(r.failures) > 0 {
		page.WriteString("\n## Failures\n\n")
		for _, s := range r.failures {
			fmt.Fprintf(&page, "- `%s`: %s\n", s, s.failure)
		}
	}
	return page.Bytes()
}

// names returns the names of interfaces as a paragraph.
func names(list []*subject) string {
	var names []string
	for _, s := range list {
		names = append(names, "`"+s.String()+"`")
	}
	return strings.Join(names, ",\n")
}

// summary returns what a person at a terminal is told: the table, the failures, and how long it took.
func (r *report) summary(times []duration) string {
	var text strings.Builder
	text.WriteString(r.table())
	for _, s := range r.failures {
		fmt.Fprintf(&text, "%s: %s\n", s, s.failure)
	}
	for _, d := range times {
		fmt.Fprintf(&text, "%-20s %8.1f s\n", d.step, d.took.Seconds())
		if d.step == "generate" {
			fmt.Fprintf(&text, "%-20s %8.2f s\n", "  per 1000 interfaces", d.took.Seconds()*1000/float64(max(r.total.decorated, 1)))
		}
	}
	return text.String()
}
