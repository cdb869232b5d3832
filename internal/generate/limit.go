package generate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// partText returns a part of a key as the directive has it, an expression without superfluous blanks.
func partText(part annotations.Part) string {
	switch {
	case part.Caller != "":
		return "{@" + part.Caller + "}"
	case part.Expr != nil:
		return "{" + exprText(part.Expr) + "}"
	}
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(part.Literal)
}

// MethodName is the name of a method to the runtime, and its key when the directive has none.
func MethodName(pkg, iface, method string) string { return pkg + "." + iface + "." + method }

// Key returns the key of a limit of a method, which is called as [MethodName] says, in the notation of the runtime.
func Key(l *parse.Limit, method string) string { return keyWith(l, method, partText) }

// keyWith returns the key of a limit with its parts as text says.
func keyWith(l *parse.Limit, method string, text func(annotations.Part) string) string {
	parts := []annotations.Part{{Literal: method}}
	if l.Key != nil {
		parts = l.Key.Parts
	}
	for _, caller := range l.By {
		parts = slices.Concat(parts, []annotations.Part{{Literal: ":"}, {Caller: caller}})
	}
	var key strings.Builder
	for _, part := range parts {
		key.WriteString(text(part))
	}
	return key.String()
}

// Buckets tell the buckets of limits apart, as far as the calls do not: the runtime puts values into the key, and knows
// neither the expressions nor the attributes of the caller that they come from.
type Buckets struct {
	key       string // with each hole as {}
	name      string
	algorithm annotations.Algorithm
}

// BucketsOf returns the buckets of a limit of a method, which is called as [MethodName] says.
func BucketsOf(l *parse.Limit, method string) Buckets {
	afterHole := false
	key := keyWith(l, method, func(part annotations.Part) string {
		text, isHole := partText(part), part.Expr != nil || part.Caller != ""
		if isHole {
			text = "{}"
		}
		if afterHole && (isHole || strings.HasPrefix(text, "%") || strings.HasPrefix(text, "#")) { // as the runtime has it
			text = ":" + text
		}
		afterHole = isHole
		return text
	})
	return Buckets{key, l.Name, l.Algorithm}
}

// ruleKey is the key of a limit for the runtime, which tells the parts of a call apart by their texts and has no braces in
// them.
func (m *method) ruleKey(l *parse.Limit) string {
	return keyWith(l, m.fullName(), func(part annotations.Part) string {
		if part.Expr == nil {
			return partText(part)
		}
		return "{" + m.asks.find("key", part.Expr).name + "}"
	})
}

// fullName is the name of the method to the runtime.
func (m *method) fullName() string {
	return MethodName(m.decorator.source.Package.Types.Name(), m.decorator.iface.Name, m.name)
}

// algorithms are the runtime's constants for them and their names in prose.
var algorithms = map[annotations.Algorithm]struct{ constant, words string }{
	annotations.TokenBucket:   {"TokenBucket", "token bucket"},
	annotations.FixedWindow:   {"FixedWindow", "fixed window"},
	annotations.SlidingLog:    {"SlidingLog", "sliding log"},
	annotations.SlidingWindow: {"SlidingWindow", "sliding window"},
	annotations.LeakyBucket:   {"LeakyBucket", "leaky bucket"},
	annotations.Concurrency:   {"Concurrency", "concurrency"},
}

// The runtime's constants for the words of an attribute, without those that mean its zero value.
var (
	modes    = map[string]string{"shadow": "ModeShadow", "off": "ModeOff"}
	failures = map[string]string{"local": "FailLocal", "open": "FailOpen", "closed": "FailClosed"}
	empties  = map[string]string{"share": "EmptyShare", "allow": "EmptyAllow"}
)

// guardCall is the call that makes the method's guard.
func (m *method) guardCall() *jen.Statement {
	args := []jen.Code{jen.Lit(m.fullName())}
	for _, l := range m.Limits {
		args = append(args, m.rule(l))
	}
	return jen.Id("limiter").Dot("Guard").Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: len(m.Limits) > 1}, args...)
}

// rule is the limit as a composite literal, without the fields that are zero.
func (m *method) rule(l *parse.Limit) *jen.Statement {
	fields := []jen.Code{
		field("Key", text(m.ruleKey(l))),
		field("Name", jen.Lit(l.Name)),
		field("Limit", limit(l)),
	}
	switch {
	case l.CostExpr != nil:
		fields = append(fields, field("CostArg", m.yes()))
	case l.Cost == 0:
		fields = append(fields, field("Cost", jen.Qual(runtimePath, "Free")))
	case l.Cost > 1:
		fields = append(fields, field("Cost", number(l.Cost)))
	}
	if l.Wait > 0 {
		fields = append(fields, field("Wait", duration(l.Wait, false)))
	}
	for _, named := range []struct {
		field     string
		constants map[string]string
		word      string
	}{{"Mode", modes, l.Mode}, {"Fail", failures, l.Fail}, {"OnEmpty", empties, l.OnEmpty}} {
		if constant := named.constants[named.word]; constant != "" {
			fields = append(fields, field(named.field, jen.Qual(runtimePath, constant)))
		}
	}
	if l.Prefetch > 0 {
		fields = append(fields, field("Prefetch", number(l.Prefetch)))
	}
	if m.decorator.returns.toBuckets(m, l) {
		fields = append(fields, field("Refunds", m.yes()))
	}
	if l.Status != 0 {
		fields = append(fields, field("Status", jen.Lit(l.Status)))
	}
	if l.Message != "" {
		fields = append(fields, field("Message", text(l.Message)))
	}
	return jen.Qual(runtimePath, "Rule").Add(literal(fields...))
}

// yes is true, and what comes to the same in a package that declares its own.
func (m *method) yes() *jen.Statement {
	if m.decorator.hidden("true") {
		return jen.Lit(0).Op("==").Lit(0)
	}
	return jen.True()
}

func limit(l *parse.Limit) *jen.Statement {
	var fields []jen.Code
	if l.Algorithm != annotations.TokenBucket {
		fields = append(fields, field("Algorithm", jen.Qual(runtimePath, algorithms[l.Algorithm].constant)))
	}
	fields = append(fields, field("Count", number(l.Count)), field("Period", duration(l.Period, strings.HasSuffix(l.PeriodText, "d"))))
	if l.Burst != 0 && l.Burst != l.Count {
		fields = append(fields, field("Burst", number(l.Burst)))
	}
	if l.Refill == annotations.Interval {
		fields = append(fields, field("Refill", jen.Qual(runtimePath, "Interval")))
	}
	return jen.Qual(runtimePath, "Limit").Values(fields...)
}

// text is a string literal, in the quotes that need no escapes if it has quotes of its own.
func text(s string) *jen.Statement {
	if strings.ContainsAny(s, `"\`) && strconv.CanBackquote(s) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}

func field(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }

// number is an integer literal, its digits in groups where there are many.
func number(n int64) *jen.Statement {
	digits := strconv.FormatInt(n, 10)
	if len(digits) > 4 {
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + "_" + digits[i:]
		}
	}
	return jen.Id(digits)
}

// duration is a duration in the largest unit of which it is a multiple, in days if they are wanted.
func duration(d time.Duration, inDays bool) *jen.Statement {
	const day = 24 * time.Hour
	unit, name := time.Microsecond, "Microsecond"
	switch {
	case d%day == 0 && d > day && inDays:
		return number(int64(d/day)).Op("*").Lit(24).Op("*").Qual("time", "Hour")
	case d%time.Hour == 0:
		unit, name = time.Hour, "Hour"
	case d%time.Minute == 0:
		unit, name = time.Minute, "Minute"
	case d%time.Second == 0:
		unit, name = time.Second, "Second"
	case d%time.Millisecond == 0:
		unit, name = time.Millisecond, "Millisecond"
	}
	if d == unit {
		return jen.Qual("time", name)
	}
	return number(int64(d/unit)).Op("*").Qual("time", name)
}
