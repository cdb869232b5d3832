package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
)

// maxPart is the length in bytes above which a part of a key is replaced by its hash, so that no caller can make keys
// as long as it likes.
const maxPart = 128

// hashedPart is the length of "#" and the hex digits of half a SHA-256.
const hashedPart = 1 + 2*sha256.Size/2

const hexDigits = "0123456789ABCDEF"

// appendPart appends one part of an identity, which may be any bytes, so that different parts stay different, a part
// never contains the separator ':' and no text can choose a Redis Cluster slot.
func appendPart(dst []byte, part string) []byte {
	if len(part) > maxPart {
		sum := sha256.Sum256([]byte(part))
		dst = append(dst, '#')
		return hex.AppendEncode(dst, sum[:sha256.Size/2])
	}
	if len(part) == hashedPart && part[0] == '#' { // or it could pass for the hash of a longer part
		dst = append(dst, '%', '2', '3')
		part = part[1:]
	}
	plain := 0 // most parts are as a whole
	for plain < len(part) && part[plain] != ':' && !mustEscape(part[plain]) {
		plain++
	}
	dst = append(dst, part[:plain]...)
	for i := plain; i < len(part); i++ {
		if c := part[i]; c == ':' || mustEscape(c) {
			dst = appendEscaped(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendLiteral appends text that the developer wrote. A ':' stays, since there it separates parts.
func appendLiteral(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; mustEscape(c) {
			dst = appendEscaped(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// maxAddr is how many bytes appendAddr appends at most: those of eight groups and their escaped colons.
const maxAddr = len("ffff%3Affff%3Affff%3Affff%3Affff%3Affff%3Affff%3Affff")

// appendAddr appends an address without a zone as appendPart would, without a string in between; of an invalid one nothing.
func appendAddr(dst []byte, addr netip.Addr) []byte {
	if !addr.IsValid() {
		return dst
	}
	if addr.Is4() {
		return addr.AppendTo(dst)
	}
	var text [len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")]byte
	for _, c := range addr.AppendTo(text[:0]) {
		if c == ':' {
			dst = append(dst, '%', '3', 'A')
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// mustEscape reports whether c may not stand in a key as it is: it is the escape itself, delimits a Redis Cluster hash
// tag, or is a control byte.
func mustEscape(c byte) bool {
	return c == '%' || c == '{' || c == '}' || c < ' ' || c == 0x7f
}

func appendEscaped(dst []byte, c byte) []byte {
	return append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
}
