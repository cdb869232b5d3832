package generate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// undefined adds to a message of the type checker what a name that means nothing most likely should be.
func (c *expressionCheck) undefined(message string) string {
	name, ok := strings.CutPrefix(message, "undefined: ")
	if !ok {
		return message
	}
	sig := c.method.sig
	results := names(sig.Results())
	isRefund := c.attr == "refund"
	switch {
	case isRefund && numbered.MatchString(name):
		return message + ", want " + numberRange("ret", sig.Results().Len(), "results")
	case !isRefund && sig.Results().Len() > 0 && (name == "err" || numbered.MatchString(name) || slices.Contains(results, name)):
		return message + ", results are for refund only"
	case c.attr == "key" && name == "ip":
		return message + ", want {@ip}"
	}
	known := names(sig.Params())
	if isRefund {
		known = append(known, results...)
	}
	known = slices.DeleteFunc(known, func(name string) bool { return name == "" || name == "_" })
	if nearest := spelling.Nearest(name, known, func(string) string { return "" }); nearest != "" {
		message += ", did you mean " + nearest
	}
	return message
}

// numbered is what expressions call a result.
var numbered = regexp.MustCompile(`^ret[0-9]+$`)
