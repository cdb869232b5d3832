package generate

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// wantName says what may stand for a name that means nothing, or nothing about other mistakes.
func (c *expressionCheck) wantName(message string, pkg *types.Package, scope *types.Scope) string {
	name, ok := strings.CutPrefix(message, "undefined: ")
	if !ok || !token.IsIdentifier(name) {
		return ""
	}
	isRefund, results := c.attr == "refund", c.method.sig.Results()
	switch {
	case isRefund && numbered.MatchString(name):
		return ": want " + numberRange("ret", results.Len(), "results")
	case !isRefund && results.Len() > 0 && (name == "err" || numbered.MatchString(name) || slices.Contains(names(results), name)):
		return ": results are for refund only"
	case c.attr == "key" && name == "ip":
		return ": want {@ip}"
	}
	known := slices.DeleteFunc(scope.Names(), func(name string) bool { return !token.IsIdentifier(name) })
	if meant := spelling.Nearest(name, append(known, pkg.Scope().Names()...), func(string) string { return "" }); meant != "" {
		return fmt.Sprintf(": did you mean %q?", meant)
	}
	if isRefund {
		return ": want a parameter, a result, or a name of the file or the package"
	}
	return ": want a parameter, or a name of the file or the package"
}

// numbered is what expressions call a result.
var numbered = regexp.MustCompile(`^ret[0-9]+$`)
