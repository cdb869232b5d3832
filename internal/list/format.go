package list

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

// Formats are the formats that [Write] knows.
var Formats = []string{"table", "json", "yaml", "markdown"}

// Write writes limits in one of the [Formats].
func Write(w io.Writer, format string, limits []Limit) error {
	switch format {
	case "table":
		return writeTable(w, limits)
	case "json":
		return writeJSON(w, limits)
	case "yaml":
		return writeYAML(w, limits)
	case "markdown":
		return writeMarkdown(w, limits)
	}
	return fmt.Errorf("unknown format %q", format)
}

func writeJSON(w io.Writer, limits []Limit) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // keys and expressions have & and <
	encoder.SetIndent("", "  ")
	return encoder.Encode(limits)
}

func writeTable(w io.Writer, limits []Limit) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) error {
		for i, cell := range cells {
			if cell == "" {
				cells[i] = "-"
			}
		}
		_, err := fmt.Fprintln(table, strings.Join(cells, "\t"))
		return err
	}
	// What may be long comes last.
	if err := row("ID", "LIMIT", "ALGORITHM", "SHARED", "SOURCE", "PER", "OPTIONS", "KEY"); err != nil {
		return err
	}
	for _, l := range limits {
		shared := ""
		if n := len(l.Shared); n > 0 {
			shared = "+" + strconv.Itoa(n)
		}
		err := row(l.ID, l.amount(), l.Algorithm, shared, l.source(), strings.Join(l.Per, ","), strings.Join(l.options(), " "), l.Key)
		if err != nil {
			return err
		}
	}
	return table.Flush()
}

func writeMarkdown(w io.Writer, limits []Limit) error {
	row := func(cells ...string) error {
		_, err := fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |")
		return err
	}
	if err := row("ID", "Limit", "Algorithm", "Per", "Options", "Key", "Shared with", "Source"); err != nil {
		return err
	}
	if err := row("---", "---", "---", "---", "---", "---", "---", "---"); err != nil {
		return err
	}
	for _, l := range limits {
		err := row(code(l.ID), l.amount(), l.Algorithm, code(l.Per...), code(l.options()...), code(l.Key), code(l.Shared...), l.source())
		if err != nil {
			return err
		}
	}
	return nil
}

// code returns texts as code in a cell of a Markdown table.
func code(texts ...string) string {
	spans := make([]string, len(texts))
	for i, text := range texts {
		fence := "`"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		if len(fence) > 1 { // a backtick of the text must not join the fence
			text = " " + text + " "
		}
		spans[i] = fence + strings.ReplaceAll(text, "|", `\|`) + fence
	}
	return strings.Join(spans, ", ")
}

// amount is how much the limit lets pass: 5 per 1s.
func (l Limit) amount() string {
	if l.Algorithm == string(annotations.Concurrency) {
		return fmt.Sprintf("%d at once", l.Count)
	}
	return fmt.Sprintf("%d per %s", l.Count, l.Time)
}

func (l Limit) source() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }

// options are what else the directive sets, as it would, but for the message.
func (l Limit) options() []string {
	var options []string
	add := func(name, value string) {
		if value != "" {
			options = append(options, name+"="+value)
		}
	}
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	expression := func(text string) string {
		if text == "" {
			return ""
		}
		return "{" + text + "}"
	}
	if l.Algorithm == string(annotations.Concurrency) {
		add("time", l.Time)
	}
	add("burst", number(l.Burst))
	add("refill", l.Refill)
	if l.Cost != nil {
		add("cost", strconv.FormatInt(*l.Cost, 10))
	}
	add("cost", expression(l.CostExpression))
	add("skip", expression(l.Skip))
	add("refund", expression(l.Refund))
	add("wait", l.Wait)
	add("fallback", l.Fallback)
	add("fail", l.Fail)
	add("mode", l.Mode)
	add("onempty", l.OnEmpty)
	add("prefetch", number(l.Prefetch))
	add("status", number(int64(l.Status)))
	return options
}
