package annotations

import (
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxCount = 1_000_000_000

	// maxStatus is the last code of three digits: HTTP has no longer ones.
	minStatus, maxStatus = 400, 999
)

// definition is what there is to know of one attribute.
type definition struct {
	name string

	// takenBy are the algorithms that know the attribute, nil for all.
	takenBy []Algorithm

	// boolean attributes may be written as a bare name.
	boolean bool

	// set reads the value into the annotation. The annotation stays as it is when there are mistakes, and a zero field
	// is how later checks know. Values that need other attributes are checked later.
	set func(a *Annotation, v value) Errors

	// aliases are what people write who mean this attribute: names from other rate limiters and plain synonyms, in
	// lower case without - and _.
	aliases string
}

// definitions is the table of attributes, in the order of the manual.
var definitions = []definition{
	{
		name: "key", set: setKey,
		aliases: "id bucketkey keyprefix prefix template",
	},
	{
		name: "count", set: integer(func(a *Annotation) *int64 { return &a.Count }, 1, maxCount),
		aliases: "limit max maxcount maxrequests requests calls permits tokens quota n number amount times slots",
	},
	{
		name: "time", set: setTime,
		aliases: "period per window interval duration seconds every ttl expire timewindow timeunit unit lease",
	},
	{
		name: "rate", set: setRate,
		aliases: "throughput frequency speed permitspersecond",
	},
	{
		name: "ip", set: setIP, boolean: true,
		aliases: "iplimit limitip perip byip clientip ipaddress remoteaddr",
	},
	{
		name: "by", set: setBy,
		aliases: "user tenant caller callers identity groupby peruser byuser limittype",
	},
	{
		name: "algorithm", set: oneOf(func(a *Annotation) *Algorithm { return &a.Algorithm }, algorithms...),
		aliases: "algo strategy type kind limiter",
	},
	{
		name: "burst", set: integer(func(a *Annotation) *int64 { return &a.Burst }, 1, maxCount),
		takenBy: []Algorithm{TokenBucket, LeakyBucket},
		aliases: "capacity size bucketsize maxburst bucket",
	},
	{
		name: "refill", set: oneOf(func(a *Annotation) *Refill { return &a.Refill }, Greedy, Interval),
		takenBy: []Algorithm{TokenBucket},
		aliases: "replenish replenishment refillmode",
	},
	{
		name: "cost", set: setCost,
		aliases: "weight units price charge",
	},
	{
		name: "skip", set: condition(func(a *Annotation) **Expr { return &a.Skip }),
		aliases: "unless when if exempt ignore bypass condition",
	},
	{
		name: "refund", set: condition(func(a *Annotation) **Expr { return &a.Refund }),
		aliases: "undo return giveback restore",
	},
	{
		name: "wait", set: setWait,
		aliases: "timeout maxwait block delay waittime",
	},
	{
		name: "fallback", set: setFallback,
		aliases: "fallbackmethod fallbackfunc handler otherwise instead",
	},
	{
		name: "fail", set: oneOf(func(a *Annotation) *string { return &a.Fail }, "local", "open", "closed"),
		aliases: "failure onfail onfailure onerror failopen failclosed failmode outage",
	},
	{
		name: "mode", set: oneOf(func(a *Annotation) *string { return &a.Mode }, "enforce", "shadow", "off"),
		aliases: "shadow dryrun enforce enabled disabled",
	},
	{
		name: "onempty", set: oneOf(func(a *Annotation) *string { return &a.OnEmpty }, "deny", "share", "allow"),
		aliases: "empty ifempty missing onmissing",
	},
	{
		name: "prefetch", set: integer(func(a *Annotation) *int64 { return &a.Prefetch }, 2, maxCount),
		takenBy: []Algorithm{TokenBucket, LeakyBucket, FixedWindow},
		aliases: "batch batchsize chunk reserve",
	},
	{
		name: "message", set: func(a *Annotation, v value) Errors { a.Message = v.text; return nil },
		aliases: "msg text reason error errormessage detail",
	},
	{
		name: "status", set: integer(func(a *Annotation) *int { return &a.Status }, minStatus, maxStatus),
		aliases: "code statuscode httpstatus httpcode",
	},
	{
		name: "name", set: setName,
		aliases: "label limitname",
	},
	{
		name: "methods", set: setMethods,
		aliases: "method only include match pattern",
	},
}

var algorithms = []Algorithm{TokenBucket, FixedWindow, SlidingLog, SlidingWindow, LeakyBucket, Concurrency}

// lookup returns the definition of an attribute, nil when there is none of that name.
func lookup(name string) *definition {
	for i := range definitions {
		if definitions[i].name == name {
			return &definitions[i]
		}
	}
	return nil
}

// integer reads an integer from low to high.
func integer[T int | int64](field func(*Annotation) *T, low, high int64) func(*Annotation, value) Errors {
	return func(a *Annotation, v value) Errors {
		if !isInteger(v.text) {
			return v.want("want an integer, %d to %d", low, high)
		}
		n, err := strconv.ParseInt(v.text, 10, 64) // fails on what does not fit
		if err != nil || n < low || n > high {
			return v.want("want %d to %d", low, high)
		}
		*field(a) = T(n)
		return nil
	}
}

func isInteger(s string) bool {
	return isDigits(strings.TrimPrefix(s, "-"))
}

// oneOf reads one of a few words.
func oneOf[T ~string](field func(*Annotation) *T, words ...T) func(*Annotation, value) Errors {
	return func(a *Annotation, v value) Errors {
		if slices.Contains(words, T(v.text)) {
			*field(a) = T(v.text)
			return nil
		}
		names := make([]string, len(words))
		for i, word := range words {
			names[i] = string(word)
		}
		known := nearestWord(v.text, names)
		errs := v.want("%s", didYouMean(known, "want "+list(names)))
		if known != "" && v.offsets == nil && !loosens(v.text, known) {
			errs.edit(v.offset, v.text, known)
		}
		return errs
	}
}

// condition reads the {expr} of skip and refund.
func condition(field func(*Annotation) **Expr) func(*Annotation, value) Errors {
	return func(a *Annotation, v value) Errors {
		if !isHole(v.text) {
			return v.want("want a condition in braces, such as %s={n == 0}", v.name)
		}
		expr, errs := parseExpr(v, 1, len(v.text)-1)
		*field(a) = expr
		return errs
	}
}

func setCost(a *Annotation, v value) (errs Errors) {
	switch {
	case isHole(v.text):
		a.CostExpr, errs = parseExpr(v, 1, len(v.text)-1)
		return errs
	case !isInteger(v.text):
		return v.want("want an integer, 0 or more, or an expression in braces")
	}
	return integer(func(a *Annotation) *int64 { return &a.Cost }, 0, maxCount)(a, v)
}

func setIP(a *Annotation, v value) Errors {
	switch v.text {
	case "true":
		if !slices.Contains(a.By, "ip") {
			a.By = slices.Insert(a.By, 0, "ip")
		}
	case "false":
	default:
		return v.want("want true or false")
	}
	return nil
}

const callerSyntax = "want a name of a-z, 0-9, _ and -, such as user"

var callerName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func setBy(a *Annotation, v value) Errors {
	names, errs := items(v, callerName.MatchString, callerSyntax)
	if slices.Contains(names, "ip") {
		a.By = nil // of ip=true: the place that by= gives it counts
	}
	a.By = append(a.By, names...)
	return errs
}

func setMethods(a *Annotation, v value) (errs Errors) {
	a.Methods, errs = items(v, isMethodPattern, "want a method name, or a prefix with * behind, such as List*")
	return errs
}

func isMethodPattern(s string) bool {
	if name, ok := strings.CutSuffix(s, "*"); ok {
		return token.IsIdentifier(name + "_") // a prefix may be empty, or a keyword
	}
	return token.IsIdentifier(s)
}

// items reads a comma separated list without duplicates. It is nil when there are mistakes.
func items(v value, valid func(string) bool, want string) ([]string, Errors) {
	var names []string
	var errs Errors
	start := 0
	for name := range strings.SplitSeq(v.text, ",") {
		switch {
		case !valid(name):
			errs = append(errs, v.errorAt(start, "%q: %s", name, want))
		case slices.Contains(names, name):
			errs = append(errs, v.errorAt(start, "%q is listed twice: want it once", name))
		default:
			names = append(names, name)
		}
		start += len(name) + len(",")
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return names, nil
}

func setFallback(a *Annotation, v value) Errors {
	if !token.IsIdentifier(v.text) || v.text == "_" {
		return v.want("want the name of a function or method")
	}
	a.Fallback = v.text
	return nil
}

var limitName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// setName reads a name. A period is none, or a limit could be called by that of another one.
func setName(a *Annotation, v value) Errors {
	const want = "want letters, digits and _, not starting with a digit"
	if _, isPeriod := parseDuration(v.text); isPeriod {
		return v.want("only a limit without name= is called by its period: " + want)
	}
	if !limitName.MatchString(v.text) {
		return v.want(want)
	}
	a.Name = v.text
	return nil
}
