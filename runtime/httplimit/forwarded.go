package httplimit

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
)

// forwardedFromRight reads the "for" parameters of Forwarded header lines (RFC 7239), and yields false for an element
// that has none or whose node is no address: "unknown", or an obfuscated one such as _hidden. A line with a syntax error
// yields false once, since where its elements end is then anyone's guess.
//
// It is more liberal than the RFC in one point: a node need not be quoted, as HAProxy and others write them. An IPv6
// address must be in brackets either way, or its end could be a port.
func forwardedFromRight(lines []string) iter.Seq2[netip.Addr, bool] {
	return func(yield func(netip.Addr, bool) bool) {
		for _, line := range slices.Backward(lines) {
			nodes, ok := parseForwarded(line)
			if !ok {
				yield(netip.Addr{}, false)
				return
			}
			for _, node := range slices.Backward(nodes) {
				if !yield(parseNode(node)) {
					return
				}
			}
		}
	}
}

// parseForwarded returns the "for" of each element of a line, empty for an element without one. Empty elements do not
// count.
func parseForwarded(line string) (nodes []string, ok bool) {
	node, inElement := "", false
	for rest := trimBlanks(line); rest != ""; {
		switch rest[0] {
		case ',':
			if inElement {
				nodes = append(nodes, node)
				node, inElement = "", false
			}
			rest = trimBlanks(rest[1:])
			continue
		case ';':
			rest = trimBlanks(rest[1:])
			continue
		}

		name, after, found := strings.Cut(rest, "=")
		if !found || !isToken(name) {
			return nil, false
		}
		value, after, valid := cutValue(after)
		if !valid {
			return nil, false
		}
		if strings.EqualFold(name, "for") {
			if node != "" {
				return nil, false // a parameter stands once in an element
			}
			node = value
		}
		inElement = true
		rest = trimBlanks(after)
		if rest != "" && rest[0] != ',' && rest[0] != ';' {
			return nil, false
		}
	}
	if inElement {
		nodes = append(nodes, node)
	}
	return nodes, true
}

// cutValue cuts a token or a quoted string, which must not be empty, off the front of s.
func cutValue(s string) (value, after string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, " \t,;\"")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], end > 0
	}
	var unescaped []byte
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return string(unescaped), s[i+1:], len(unescaped) > 0
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
		}
		unescaped = append(unescaped, s[i])
	}
	return "", "", false
}

// parseNode reads a node that is an address, which may have a port, real or obfuscated.
func parseNode(s string) (netip.Addr, bool) {
	host, port, hasPort := splitPort(s)
	if hasPort && !isPort(port) && !isObfuscated(port) || !strings.HasPrefix(host, "[") && strings.Contains(host, ":") {
		return netip.Addr{}, false
	}
	return parseHost(host)
}

// isToken reports whether s is a token of RFC 9110, as the names of headers and parameters are.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !isLetterOrDigit(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

func isObfuscated(s string) bool {
	name, ok := strings.CutPrefix(s, "_")
	return ok && name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !isLetterOrDigit(c) && c != '.' && c != '_' && c != '-'
	})
}

func isLetterOrDigit(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
