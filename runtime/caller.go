package ratelimit

import (
	"context"
	"net/netip"
)

// callerKey is the context key of a caller's attribute.
type callerKey string

// WithClientIP returns a context that names the client by its address, for limits with ip=true, by=ip or {@ip}. An
// IPv4 address mapped into IPv6 counts as IPv4, and a zone is dropped. An invalid address says that the client is not
// known, whatever the parent context says.
//
// Limits go by the whole address. Give the network of an IPv6 client, as httplimit does, where one subscriber may
// choose among many addresses.
func WithClientIP(ctx context.Context, addr netip.Addr) context.Context {
	c := newCallContext(ctx)
	c.addr = addr.Unmap().WithZone("")
	c.part = uint8(len(appendAddr(c.text[:0], c.addr))) //nolint:gosec // maxAddr at most
	return c
}

// ClientIP returns the address that [WithClientIP] put into the context, and whether there is one.
func ClientIP(ctx context.Context) (netip.Addr, bool) {
	c := callContextOf(ctx)
	if c == nil {
		return netip.Addr{}, false
	}
	return c.addr, c.addr.IsValid()
}

// WithCaller returns a context that holds an attribute of the caller, such as "user" or "tenant", for limits with
// by=user or {@user}. The value may be any text: it is escaped where it becomes part of a key. An empty value counts
// as missing. The attribute "ip" is read from [WithClientIP] first.
func WithCaller(ctx context.Context, name, value string) context.Context {
	return context.WithValue(ctx, callerKey(name), value)
}

// Caller returns the attribute of that name that [WithCaller] put into the context, and whether there is one that is not empty.
// "ip" is not read from [WithClientIP], see [ClientIP].
func Caller(ctx context.Context, name string) (value string, ok bool) {
	value, _ = ctx.Value(callerKey(name)).(string)
	return value, value != ""
}

// appendCaller appends the escaped caller attribute whose context key is given, and reports whether there was one.
func appendCaller(dst []byte, ctx context.Context, key any) ([]byte, bool) {
	value, _ := ctx.Value(key).(string)
	if value == "" {
		return dst, false
	}
	return appendPart(dst, value), true
}

// appendIP is appendCaller for the attribute "ip", whose context key as such an attribute is given.
func appendIP(dst []byte, ctx context.Context, key any) ([]byte, bool) {
	if c := callContextOf(ctx); c != nil && c.part > 0 {
		return append(dst, c.text[:c.part]...), true
	}
	return appendCaller(dst, ctx, key)
}
