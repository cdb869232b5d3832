package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// words is the doc comment of the decorator.
func (d *decorator) words() string {
	text := fmt.Sprintf("%s decorates [%s] with the limits of its //ratelimit: directives.", d.name, d.ifaceName())
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
	switch {
	case d.hasFallback() && d.hasShape(returnsError, answers, answersAndReturns):
		text += " Where there is a fallback, that is called instead."
	case d.hasFallback():
		text += " A call over its limit is not passed on, but goes to a fallback."
	}
	if d.hasShape(answersAndReturns) {
		text += " A handler with an error as result returns the refusal, too: by then the request is answered."
	}
	if d.has("Unwrap") {
		text += fmt.Sprintf(" Unwrap is a method of the [%s] and returns what that does.", d.ifaceName())
	}
	return text
}

// hasShape reports whether a call over its limit is refused in one of the ways.
func (d *decorator) hasShape(shapes ...shape) bool {
	return slices.ContainsFunc(d.methods, func(m *method) bool {
		return m.enforced() && m.fallback == nil && slices.Contains(shapes, m.shape)
	})
}

func (d *decorator) hasFallback() bool {
	return slices.ContainsFunc(d.methods, func(m *method) bool { return m.enforced() && m.fallback != nil })
}

// enforced reports whether a limit of the method holds, as opposed to those that only look on or are off.
func (m *method) enforced() bool {
	return slices.ContainsFunc(m.Limits, func(l *parse.Limit) bool { return modeWords[l.Mode] == "" })
}

// words is the doc comment of the method, each limit in words.
func (m *method) words() string {
	target := fmt.Sprintf("%s calls [%s.%s]", m.name, m.decorator.ifaceName(), m.name)
	switch {
	case m.Exempt:
		return target + " without a limit, as //ratelimit:skip says."
	case !m.limited():
		return target + " without a limit."
	case len(m.Limits) == 1:
		l := m.Limits[0]
		return target + introductions[l.Mode] + m.limitWords(l) + m.fallbackWords("that") + "."
	}
	text := target
	switch {
	case m.enforced():
		text += ", within all of these limits" + m.fallbackWords("them") + ":"
	case m.fallback != nil:
		text += " without a limit, as none of these is enforced, beyond which it would call " + m.fallback.words(m.decorator) + ":"
	default:
		text += " without a limit, as none of these is enforced:"
	}
	for _, l := range m.Limits {
		text += "\n  - " + m.limitWords(l) + modeWords[l.Mode]
	}
	return text
}

// fallbackWords says what is called beyond the limits.
func (m *method) fallbackWords(limits string) string {
	switch f := m.fallback; {
	case f == nil:
		return ""
	case m.canRefuse():
		return ", and beyond " + limits + " " + f.words(m.decorator)
	case f.takesErr:
		return ", and beyond " + limits + ", or with a nil LimitError if the limiter cannot tell, " + f.words(m.decorator)
	default:
		return ", and beyond " + limits + ", or if the limiter cannot tell, " + f.words(m.decorator)
	}
}

// limitWords returns a limit as a part of a sentence: at most 5 times per 1s for each client IP (token bucket).
func (m *method) limitWords(l *parse.Limit) string {
	text := most(l)
	if identity := m.identityOf(l); len(identity) > 0 {
		text += " for each " + enumerateAll(identity)
		switch l.OnEmpty {
		case "share":
			text += ", calls without one counted together"
		case "allow":
			text += ", calls without one not counted"
		}
	}
	if l.CostExpr != nil {
		text += fmt.Sprintf(", %s a call", m.exprWords("cost", l.CostExpr))
	} else if l.Cost > 1 {
		text += fmt.Sprintf(", %d a call", l.Cost)
	}
	if l.Skip != nil {
		text += ", unless " + m.exprWords("skip", l.Skip)
	}
	if l.Refund != nil {
		text += ", given back if " + m.exprWords("refund", l.Refund)
	}
	if l.Wait > 0 {
		text += ", waiting up to " + DurationText(l.Wait)
	}
	if l.Prefetch > 0 {
		text += fmt.Sprintf(", taken %d at once from the store", l.Prefetch)
	}
	return text + failureWords[l.Fail] + " (" + algorithmWords(l) + ")"
}

// The words of the doc comment for those of an attribute.
var (
	failureWords = map[string]string{
		"local":  ", by this process's count while the store does not answer",
		"open":   ", without a limit while the store does not answer",
		"closed": ", not at all while the store does not answer",
	}
	introductions = map[string]string{ // of the only limit, by its mode
		"":        ", ",
		"enforce": ", ",
		"shadow":  " without a limit, as mode=shadow says, and reports what this one would do: ",
		"off":     " without a limit, as mode=off says: it would be ",
	}
	modeWords = map[string]string{ // behind one of several limits
		"shadow": ", but only reported: shadow mode",
		"off":    ", but off",
	}
)

// exprWords is an expression as the directive has it, but with the names that parameters have in the method. Those of its
// variables are not for its callers, who see results by the interface.
func (m *method) exprWords(attr string, source *annotations.Expr) string {
	e := m.asks.find(attr, source)
	node := source.Syntax(token.NewFileSet())
	fresh := identsOf(node)
	for i, name := range identsOf(e.node) {
		if v, ok := e.vars[e.info.Uses[name]]; ok && !v.isResult {
			fresh[i].Name = m.variable(v)
		}
	}
	return types.ExprString(node)
}

func identsOf(node ast.Expr) []*ast.Ident {
	var names []*ast.Ident
	ast.Inspect(node, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			names = append(names, name)
		}
		return true
	})
	return names
}

// DurationText is a duration as a directive has it: 1m30s, 2h.
func DurationText(d time.Duration) string {
	text := ""
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if n := d / unit.size; n > 0 {
			text += fmt.Sprintf("%d%s", n, unit.name)
			d %= unit.size
		}
	}
	return text
}

func most(l *parse.Limit) string {
	units := l.Cost > 1 || l.CostExpr != nil
	switch {
	case l.Algorithm == annotations.Concurrency:
		return mostAtOnce(l)
	case l.Cost == 0 && l.CostExpr == nil:
		return fmt.Sprintf("at no cost to the limit of %d per %s", l.Count, l.PeriodText)
	case units && l.Count == 1:
		return fmt.Sprintf("at most 1 unit per %s", l.PeriodText)
	case units:
		return fmt.Sprintf("at most %d units per %s", l.Count, l.PeriodText)
	case l.Count == 1:
		return fmt.Sprintf("at most once per %s", l.PeriodText)
	}
	return fmt.Sprintf("at most %d times per %s", l.Count, l.PeriodText)
}

func mostAtOnce(l *parse.Limit) string {
	switch {
	case l.Cost == 0 && l.CostExpr == nil:
		return fmt.Sprintf("at no cost to the limit of %d at once", l.Count)
	case l.Cost == 1:
		return fmt.Sprintf("at most %d at once", l.Count)
	case l.Count == 1:
		return "at most 1 slot at once"
	}
	return fmt.Sprintf("at most %d slots at once", l.Count)
}

func algorithmWords(l *parse.Limit) string {
	text := algorithms[l.Algorithm].words
	if l.Burst != 0 && l.Burst != l.Count {
		text += fmt.Sprintf(" of %d", l.Burst)
	}
	switch {
	case l.Refill == annotations.Interval:
		text += ", refilled once per " + l.PeriodText
	case l.Algorithm == annotations.Concurrency:
		text += ", leases of " + l.PeriodText
	}
	return text
}

// identityOf returns what tells the limit's buckets apart, in words.
func (m *method) identityOf(l *parse.Limit) []string {
	var identity []string
	add := func(name string) {
		if !slices.Contains(identity, name) {
			identity = append(identity, name)
		}
	}
	caller := func(name string) {
		if name == "ip" {
			name = "client IP"
		}
		add(name)
	}
	if l.Key != nil {
		for _, part := range l.Key.Parts {
			switch {
			case part.Caller != "":
				caller(part.Caller)
			case part.Expr != nil:
				add(m.exprWords("key", part.Expr))
			}
		}
	}
	for _, name := range l.By {
		caller(name)
	}
	return identity
}

// lineWidth is the width of lines.
const lineWidth = 120

// width returns how wide a text is, a tab counted as four.
func width(text string) int { return utf8.RuneCountInString(text) + 3*strings.Count(text, "\t") }

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
			case 4*indent+width(line)+1+width(word) > lineWidth:
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
