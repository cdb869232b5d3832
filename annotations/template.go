package annotations

import (
	"regexp"
	"strings"
)

// setKey reads a key template. A mistake in one hole does not hide those of the others.
func setKey(a *Annotation, v value) Errors {
	var parts []Part
	var errs Errors
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, Part{Literal: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(v.text); {
		switch rest := v.text[i:]; {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			literal.WriteByte(rest[0])
			i += len("{{")
		case rest[0] == '}':
			errs = append(errs, v.errorAt(i, "} without {: want }} for a literal brace"))
			i++
		case rest[0] == '{':
			size := holeSize(rest)
			if size < 0 {
				return append(errs, v.errorAt(i, notClosed))
			}
			flush()
			part, mistakes := parseHole(v, i, i+size)
			errs = append(errs, mistakes...)
			parts = append(parts, part)
			i += size
		default:
			literal.WriteByte(rest[0])
			i++
		}
	}
	flush()
	if len(parts) <= 1 {
		errs = append(errs, foreignParts(v)...)
	}
	if len(errs) == 0 {
		a.Key = &Template{Parts: parts}
	}
	return errs
}

// foreignPart is a part of a key as Spring writes it, in its expression language: #user.id, or #p0 for the first argument. With
// anything but quotes, operators and the ends of words around it, the # is the user's own.
var foreignPart = regexp.MustCompile(`(?:^|[\s:+('])(#(?:[pa](\d+)|[A-Za-z_]\w*)(?:\??\.[A-Za-z_]\w*(?:\(\))?)*)`)

// foreignParts reports parts of another language in a key without holes: left as they were, they would be literal text, and
// one bucket would be for all callers.
func foreignParts(v value) (errs Errors) {
	if strings.Contains(v.text, "{") {
		return nil
	}
	for _, m := range foreignPart.FindAllStringSubmatchIndex(v.text, -1) {
		seen := v.text[m[2]:m[3]]
		expr := strings.ReplaceAll(seen[len("#"):], "?.", ".")
		if m[4] >= 0 {
			expr = "$" + expr[len("p"):]
		}
		errs = append(errs, v.errorAt(m[2], "%s is not replaced: want {%s}, an expression of Go", seen, expr))
	}
	return errs
}

// parseHole reads the hole v.text[start:end], braces included.
func parseHole(v value, start, end int) (Part, Errors) {
	name, ok := strings.CutPrefix(strings.Trim(v.text[start+1:end-1], " "), "@")
	if !ok {
		expr, errs := parseExpr(v, start+1, end-1)
		return Part{Expr: expr, Offset: v.at(start)}, errs
	}
	if !callerName.MatchString(name) {
		return Part{}, Errors{v.errorAt(start, "%s: %s", v.text[start:end], callerSyntax)}
	}
	return Part{Caller: name, Offset: v.at(start)}, nil
}

// isHole reports whether s is one hole from its first byte to its last.
func isHole(s string) bool {
	return strings.HasPrefix(s, "{") && holeSize(s) == len(s)
}

const notClosed = "{ is not closed: want }"

// holeSize returns the length of the {...} at the start of s, or -1 when it is not closed. Braces inside Go strings and
// runes do not count.
func holeSize(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			size := literalSize(s[i:])
			if size < 0 {
				return -1
			}
			i += size - 1
		}
	}
	return -1
}

// literalSize returns the length of the Go string or rune at the start of s, or -1 when it is not closed.
func literalSize(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1
		case s[i] == '\\' && quote != '`':
			i++
		}
	}
	return -1
}
