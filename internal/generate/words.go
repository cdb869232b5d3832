package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// words is the doc comment of the decorator.
func (d *decorator) words() string {
	text := fmt.Sprintf("%s decorates [%s] with the limits of its //ratelimit: directives.", d.name, d.iface.Name)
	limited := fmt.Sprintf("[%s.ErrLimited]", d.imports.names[runtimePath])
	write := fmt.Sprintf("[%s.WriteError]", d.imports.names[httplimitPath])
	switch returns, answers := d.hasShape(returnsError), d.hasShape(answers, answersAndReturns); {
	case returns && answers:
		text += " A call over its limit is not passed on: it returns an error that matches " + limited + ", or answers the request by " + write + "."
	case returns:
		text += " A call over its limit is not passed on: it returns an error that matches " + limited + "."
	case answers:
		text += " A request over its limit is not passed on, but answered by " + write + "."
	}
	if d.hasShape(answersAndReturns) {
		text += " A handler with an error as result returns the refusal, too: by then the request is answered."
	}
	if d.has("Unwrap") {
		text += fmt.Sprintf(" Unwrap is a method of the [%s] and returns what that does.", d.iface.Name)
	}
	return text
}

func (d *decorator) hasShape(shapes ...shape) bool {
	return slices.ContainsFunc(d.methods, func(m *method) bool { return m.limited() && slices.Contains(shapes, m.shape) })
}

// words is the doc comment of the method, each limit in words.
func (m *method) words() string {
	target := fmt.Sprintf("%s calls [%s.%s]", m.name, m.decorator.iface.Name, m.name)
	switch {
	case m.Exempt:
		return target + " without a limit, as //ratelimit:skip says."
	case !m.limited():
		return target + " without a limit."
	case len(m.Limits) == 1:
		return target + ", " + limitWords(m.Limits[0]) + "."
	}
	text := target + ", within all of these limits:"
	for _, l := range m.Limits {
		text += "\n  - " + limitWords(l)
	}
	return text
}

// limitWords returns a limit as a part of a sentence: at most 5 times per 1s for each client IP (token bucket).
func limitWords(l *parse.Limit) string {
	text := most(l)
	if callers := callersOf(l); len(callers) > 0 {
		text += " for each " + enumerate(callers)
		switch l.OnEmpty {
		case "share":
			text += ", calls without one counted together"
		case "allow":
			text += ", calls without one not counted"
		}
	}
	if l.Cost > 1 {
		text += fmt.Sprintf(", %d a call", l.Cost)
	}
	return text + " (" + algorithmWords(l) + ")"
}

func most(l *parse.Limit) string {
	switch {
	case l.Cost == 0:
		return fmt.Sprintf("at no cost to the limit of %d per %s", l.Count, l.PeriodText)
	case l.Cost > 1 && l.Count == 1:
		return fmt.Sprintf("at most 1 unit per %s", l.PeriodText)
	case l.Cost > 1:
		return fmt.Sprintf("at most %d units per %s", l.Count, l.PeriodText)
	case l.Count == 1:
		return fmt.Sprintf("at most once per %s", l.PeriodText)
	}
	return fmt.Sprintf("at most %d times per %s", l.Count, l.PeriodText)
}

func algorithmWords(l *parse.Limit) string {
	text := algorithms[l.Algorithm].words
	if l.Burst != 0 && l.Burst != l.Count {
		text += fmt.Sprintf(" of %d", l.Burst)
	}
	if l.Refill == annotations.Interval {
		text += ", refilled once per " + l.PeriodText
	}
	return text
}

// callersOf returns the caller attributes that tell the limit's buckets apart, in words.
func callersOf(l *parse.Limit) []string {
	var callers []string
	add := func(name string) {
		if name == "ip" {
			name = "client IP"
		}
		if !slices.Contains(callers, name) {
			callers = append(callers, name)
		}
	}
	if l.Key != nil {
		for _, part := range l.Key.Parts {
			if part.Caller != "" {
				add(part.Caller)
			}
		}
	}
	for _, name := range l.By {
		add(name)
	}
	return callers
}

// lineWidth is the width of a comment's lines, a tab counted as four.
const lineWidth = 120

// comment returns text as the lines of a comment at an indent of so many tabs. Line breaks in it are kept.
func comment(indent int, text string) []string {
	var lines []string
	for paragraph := range strings.Lines(text) {
		paragraph = strings.TrimRight(paragraph, "\n")
		prefix, rest := "// ", "// "
		if item, ok := strings.CutPrefix(paragraph, "  - "); ok { // as gofmt has lists
			prefix, rest, paragraph = "//   - ", "//     ", item
		}
		line := prefix
		for i, word := range strings.Fields(paragraph) {
			switch {
			case i == 0:
			case 4*indent+len(line)+1+len(word) > lineWidth:
				lines = append(lines, line)
				line = rest
			default:
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}
