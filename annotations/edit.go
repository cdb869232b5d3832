package annotations

import (
	"regexp"
	"strings"
)

// edit tells what the last of the mistakes should be: text in the place of what is seen at offset.
func (e Errors) edit(offset int, seen, text string) {
	e[len(e)-1].Edit = &Edit{Start: offset, End: offset + len(seen), Text: text}
}

// editLine returns the edit that makes a directive of a line that is not read as one, which starts at offset of its
// comment, or nil. What has no colon is only certain if it makes sense as a whole.
func editLine(line string, offset int, colon, attrs string) *Edit {
	if colon == "(" {
		attrs = arguments(attrs)
	}
	text := prefix + attrs
	if _, err := Parse(text); attrs == "" || colon != ":" && err != nil {
		return nil
	}
	return &Edit{Start: offset, End: offset + len(line), Text: text}
}

// editBlock makes the edit of a near miss good for the whole comment, which is between /* and */: only one of a single
// line has nothing else to say.
func (e *Error) editBlock(comment string) {
	switch {
	case e.Edit == nil:
	case strings.Contains(comment, "\n"):
		e.Edit = nil
	default:
		e.Edit.Start, e.Edit.End = 0, len(comment)
	}
}

// argument is one of the arguments of an annotation in another language, with the comma behind it.
var argument = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9_-]*)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,"()]+)\s*(,|$)`)

// arguments returns the attributes in the rest of an annotation such as @RateLimit(count = 5, time = 1), or "".
func arguments(rest string) string {
	rest, ok := strings.CutSuffix(strings.TrimRight(rest, blanks+";"), ")")
	var attrs []string
	for rest != "" {
		m := argument.FindStringSubmatch(rest)
		if m == nil {
			return ""
		}
		attrs = append(attrs, m[1]+"="+m[2])
		rest = rest[len(m[0]):]
	}
	if !ok {
		return ""
	}
	return strings.Join(attrs, " ")
}
