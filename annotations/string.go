package annotations

import (
	"strconv"
	"strings"
)

// String returns the directive on one line, in its short form: the attributes in the order of the source, their values
// as written but quoted only where they must be. [Parse] reads it back as the same annotation, offsets aside.
func (a *Annotation) String() string {
	if a.Exempt {
		return prefix + "skip"
	}
	words := make([]string, len(a.attributes))
	for i, attr := range a.attributes {
		words[i] = attr.name
		if !attr.bare {
			words[i] += "=" + quote(attr.value.text)
		}
	}
	return prefix + strings.Join(words, " ")
}

// quote returns a value in the lightest quotes that it can have.
func quote(text string) string {
	end, mistake := scanBare(text)
	switch {
	case end == len(text) && mistake == nil:
		return text
	case !strings.ContainsAny(text, `"\`):
		return `"` + text + `"`
	case !strings.Contains(text, "`"):
		return "`" + text + "`"
	default:
		return strconv.Quote(text)
	}
}
