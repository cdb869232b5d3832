package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// part is a piece of a key: literal text, an attribute of the caller, or what the call gives.
type part struct {
	kind    partKind
	literal string // escaped
	name    string // of what varies, as the template has it
	ctxKey  any    // of a caller attribute: callerKey(name), boxed once
	arg     int    // of what the call gives: its place among the args
	next    byte   // of what varies: the byte of the key that follows, 0 if none
}

type partKind uint8

const (
	literalPart partKind = iota
	callerPart
	ipPart // the caller attribute ip
	givenPart
)

var errKeySyntax = errors.New("want text with {@name} for caller attributes, {text} for parts of the call, and {{ or }} for a brace")

// parseKey reads a template. It appends to wanted the names of what the call gives that are not in it yet.
//
// What varies must end where it ends, or two identities would meet in one bucket: "a" and "bc" are not "ab" and "c". So
// the byte that follows a part is escaped in it. A ':' is put between two parts that vary, and before text that begins
// with an escape or a '#', which parts hold themselves.
func parseKey(template string, wanted *[]string) ([]part, error) {
	if template == "" {
		return nil, errors.New("ratelimit: Rule.Key is empty")
	}
	var parts []part
	var literal []byte
	flush := func() {
		if len(literal) == 0 {
			return
		}
		if n := len(parts); n > 0 {
			if literal[0] == '%' || literal[0] == '#' {
				literal = append([]byte{':'}, literal...)
			}
			parts[n-1].next = literal[0]
		}
		parts = append(parts, part{literal: string(literal)})
		literal = nil
	}
	for rest := template; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			i = len(rest)
		}
		literal = appendLiteral(literal, rest[:i])
		rest = rest[i:]
		switch {
		case rest == "":
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			literal = appendLiteral(literal, rest[:1])
			rest = rest[2:]
		default:
			hole, after, closed := strings.Cut(rest, "}")
			hole, opened := strings.CutPrefix(hole, "{")
			if !opened || !closed || hole == "" || hole == "@" || strings.Contains(hole, "{") {
				return nil, fmt.Errorf("ratelimit: Rule.Key is %q: %w", template, errKeySyntax)
			}
			if n := len(parts); len(literal) == 0 && n > 0 && parts[n-1].kind != literalPart {
				literal = append(literal, ':')
			}
			flush()
			parts = append(parts, varying(hole, wanted))
			rest = after
		}
	}
	flush()
	return parts, nil
}

// varying returns the part of a hole.
func varying(hole string, wanted *[]string) part {
	if name, ok := strings.CutPrefix(hole, "@"); ok {
		if name == "ip" {
			return part{kind: ipPart, name: name, ctxKey: callerKey(name)}
		}
		return part{kind: callerPart, name: name, ctxKey: callerKey(name)}
	}
	i := slices.Index(*wanted, hole)
	if i < 0 {
		i = len(*wanted)
		*wanted = append(*wanted, hole)
	}
	return part{kind: givenPart, name: hole, arg: i}
}

// appendKey appends the identity of the call's bucket. If a part is missing and the rule does not share one bucket among
// such calls, it returns the part.
func (r *rule) appendKey(dst []byte, ctx context.Context, call args) (key []byte, missing *part) {
	if r.byIP {
		if c := callContextOf(ctx); c != nil && c.part > 0 {
			dst = append(dst, r.parts[0].literal...)
			return append(dst, c.text[:c.part]...), nil
		}
	}
	for i := range r.parts {
		p := &r.parts[i]
		start := len(dst)
		ok := true
		switch p.kind {
		case literalPart:
			dst = append(dst, p.literal...)
			continue
		case callerPart:
			dst, ok = appendCaller(dst, ctx, p.ctxKey)
		case ipPart:
			dst, ok = appendIP(dst, ctx, p.ctxKey)
		case givenPart:
			dst, ok = call[p.arg].appendTo(dst)
		}
		if !ok && r.OnEmpty != EmptyShare {
			return dst, p
		}
		if p.next != 0 && p.next != ':' && bytes.IndexByte(dst[start:], p.next) >= 0 {
			dst = escapeByte(dst, start, p.next)
		}
	}
	return dst, nil
}

// escapeByte escapes each c in dst[start:].
func escapeByte(dst []byte, start int, c byte) []byte {
	const more = len("%2F") - 1
	n, grown := len(dst), more*bytes.Count(dst[start:], []byte{c})
	dst = slices.Grow(dst, grown)[:n+grown]
	to := len(dst)
	for i := n - 1; i >= start; i-- { // from the end, so that nothing is overwritten that is still to come
		if dst[i] == c {
			to -= 1 + more
			appendEscaped(dst[:to], c)
		} else {
			to--
			dst[to] = dst[i]
		}
	}
	return dst
}
