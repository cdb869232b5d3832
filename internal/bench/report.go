package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// report is what was measured, in Markdown.
type report struct {
	machine  machine
	goals    []string // lines of the table of goals
	sections []string // the table of each row
}

// add adds a row.
func (r *report) add(t testing.TB, w row, got results) {
	missed := false
	for _, g := range w.goals {
		line, isMet, err := w.line(g, got)
		if err != nil {
			t.Fatalf("%s: %v", w.id, err)
		}
		r.goals = append(r.goals, line)
		missed = missed || !isMet
	}
	section := w.table(got)
	if missed && w.why != "" {
		section += "\n" + w.why + "\n"
	}
	r.sections = append(r.sections, section)
}

// line returns the line of a goal, and whether it is met.
func (w *row) line(g goal, got results) (text string, isMet bool, err error) {
	if g.entry == "" {
		g.entry = w.entries[0].name
	}
	figure, ok := got.figure(g)
	if !ok {
		return "", false, fmt.Errorf("%q is not measured of %q and %q", g.metric, g.entry, g.than)
	}
	verdict := g.verdict(figure)
	return fmt.Sprintf("| [%s](#%[1]s) | %s | %s %s | %s %s | %s | %s | %s | %s |\n", w.id, g.metric,
		g.entry, got.cell(g.entry, g.metric), g.than, got.cell(g.than, g.metric), got.cell(w.floor, g.metric), g.figure(figure), g, verdict), verdict == met, nil
}

// table returns what was measured of each entry of a row.
func (w *row) table(got results) string {
	var text strings.Builder
	var columns []metric
	for _, m := range metrics {
		if slices.ContainsFunc(w.entries, func(e entry) bool { return got.cell(e.name, m) != "" }) {
			columns = append(columns, m)
		}
	}
	fmt.Fprintf(&text, "### %s\n\n%s. Rounds: %d.\n\n| |", w.id, upperFirst(w.models), len(got[w.entries[0].name]))
	for _, m := range columns {
		fmt.Fprintf(&text, " %s |", m)
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, e := range w.entries {
		fmt.Fprintf(&text, "| %s |", e.name)
		for _, m := range columns {
			fmt.Fprintf(&text, " %s |", got.cell(e.name, m))
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// cell returns the median of a metric of an entry as the report has it, and nothing if it was not measured.
func (r results) cell(entry string, m metric) string {
	if median, ok := r.median(entry, m); ok {
		return number(median)
	}
	return ""
}

// number returns a number with three digits that count, or with all that stand before the point.
func number(f float64) string {
	if math.Abs(f) >= 100 {
		return thousands(strconv.FormatFloat(f, 'f', 0, 64))
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// thousands puts commas into digits.
func thousands(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// text returns the tables, that of the goals first, and where they come from.
func (r *report) text() string {
	return fmt.Sprintf("%s\n%s\nOn %v.\n", r.goalTable(), strings.Join(r.sections, "\n"), r.machine)
}

func (r *report) goalTable() string {
	return "| row | measured | ours | beside | floor | figure | goal | |\n|---|---|--:|--:|--:|--:|--:|---|\n" + strings.Join(r.goals, "")
}
