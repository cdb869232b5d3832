package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Free is the [Rule.Cost] of a call that takes nothing: it is never refused and only sees where the limit stands.
const Free int64 = -1

// Empty says what becomes of a call when the context does not hold a caller attribute that a limit goes by. The zero
// value is [Deny].
type Empty uint8

const (
	// Deny refuses the call, so that a caller who cannot be told apart is not left unlimited.
	Deny Empty = iota
	// Share counts all such calls in one bucket.
	Share
	// Allow lets the call pass this limit uncounted.
	Allow
)

// Rule is one limit of a method: which bucket a call belongs to, what it takes, and what a refused caller is told. Its
// zero value is not a rule: Key and Limit are required. Rules are copied by [Limiter.Guard].
type Rule struct {
	// Key is the bucket's identity, in the notation of the directive: literal text in which {@name} stands for the
	// caller attribute of that name, and {{ and }} for braces. Rules with equal keys, names and algorithms share
	// buckets.
	Key     string
	Name    string // names the limit among the method's, and to the caller; empty: the period, e.g. "1s"
	Limit   Limit
	Cost    int64  // units that a call takes; 0 means 1, see [Free]
	OnEmpty Empty  // what to do without a caller attribute of Key
	Status  int    // HTTP status of a refusal, 400 to 999; 0 means 429
	Message string // text for a refused caller
}

// rule is a Rule made ready for calls.
type rule struct {
	Rule
	parts []part
}

// part is a piece of a key: literal text, already escaped, or a caller attribute.
type part struct {
	literal string
	caller  string // attribute name; empty for a literal
	ctxKey  any    // callerKey(caller), boxed once
}

func compile(r Rule) (rule, error) {
	parts, err := parseKey(r.Key)
	if err != nil {
		return rule{}, err
	}
	if err := r.Limit.Validate(); err != nil {
		return rule{}, err
	}
	switch {
	case r.Cost < Free:
		return rule{}, fmt.Errorf("ratelimit: Rule.Cost is %d: want at least 1, 0 for 1, or Free", r.Cost)
	case strings.ContainsFunc(r.Name, func(c rune) bool { return !inName(c) }):
		return rule{}, fmt.Errorf("ratelimit: Rule.Name is %q: want letters, digits, '_', '-' and '.'", r.Name)
	case r.OnEmpty > Allow:
		return rule{}, fmt.Errorf("ratelimit: Rule.OnEmpty is %d: want Deny, Share or Allow", r.OnEmpty)
	case r.Status != 0 && (r.Status < 400 || r.Status > 999):
		return rule{}, fmt.Errorf("ratelimit: Rule.Status is %d: want 400 to 999, or 0 for 429", r.Status)
	}
	switch r.Cost {
	case 0:
		r.Cost = 1
	case Free:
		r.Cost = 0
	}
	if r.Name == "" {
		r.Name = periodName(r.Limit.Period)
	}
	if r.Status == 0 {
		r.Status = http.StatusTooManyRequests
	}
	return rule{Rule: r, parts: parts}, nil
}

// inName reports whether c may stand in a limit's name, which must be fit for a store's key and for a response header.
func inName(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

var errKeySyntax = errors.New("want text with {@name} for caller attributes, and {{ or }} for a brace")

func parseKey(template string) ([]part, error) {
	if template == "" {
		return nil, errors.New("ratelimit: Rule.Key is empty")
	}
	var parts []part
	var literal []byte
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
			name, ok := strings.CutPrefix(hole, "{@")
			if !ok || !closed || name == "" {
				return nil, fmt.Errorf("ratelimit: Rule.Key is %q: %w", template, errKeySyntax)
			}
			if len(literal) > 0 {
				parts = append(parts, part{literal: string(literal)})
				literal = nil
			}
			parts = append(parts, part{caller: name, ctxKey: callerKey(name)})
			rest = after
		}
	}
	if len(literal) > 0 {
		parts = append(parts, part{literal: string(literal)})
	}
	return parts, nil
}

// appendKey appends the identity of the call's bucket. If the context lacks a caller attribute and the rule does not
// share one bucket among such calls, it returns the attribute's name.
func (r *rule) appendKey(dst []byte, ctx context.Context) (key []byte, missing string) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.caller == "" {
			dst = append(dst, p.literal...)
			continue
		}
		var ok bool
		if dst, ok = appendCaller(dst, ctx, p.ctxKey); !ok && r.OnEmpty != Share {
			return dst, p.caller
		}
	}
	return dst, ""
}
