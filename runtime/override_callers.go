package ratelimit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// callerTable finds the first of [Override.Callers] that a caller matches, by one look-up for each set of attributes that
// they go by, however many they are. It is not changed once it is made. Nil finds none.
type callerTable []callerShape

// callerShape are the entries that go by the same attributes, beside ip.
type callerShape struct {
	keys   []any // of the context, in the order of the names
	groups map[string]*callerGroup
}

// callerGroup are the entries of a shape with the same values. Its numbers are those of entries.
type callerGroup struct {
	all      int // without ip, or noCaller
	addrs    map[netip.Addr]int
	networks []network
}

type network struct {
	prefix netip.Prefix
	entry  int
}

const noCaller = int(^uint(0) >> 1)

// newCallerTable returns a table of entries, which are valid.
func newCallerTable(entries []CallerOverride) callerTable {
	var t callerTable
	places := map[string]int{}
	for i := range entries {
		by := entries[i].By
		names := slices.Sorted(maps.Keys(by))
		names = slices.DeleteFunc(names, func(name string) bool { return name == "ip" })
		shape := fmt.Sprintf("%q", names)
		place, ok := places[shape]
		if !ok {
			place = len(t)
			places[shape] = place
			t = append(t, callerShape{groups: map[string]*callerGroup{}})
			for _, name := range names {
				t[place].keys = append(t[place].keys, callerKey(name))
			}
		}
		var values []byte
		for _, name := range names {
			values = appendValue(values, by[name], len(names))
		}
		t[place].group(string(values)).add(i, by["ip"])
	}
	return t
}

// appendValue appends the value of an attribute to those of an entry. If it is one of several, it is told where it ends.
func appendValue(dst []byte, value string, several int) []byte {
	if several > 1 {
		dst = binary.AppendUvarint(dst, uint64(len(value)))
	}
	return append(dst, value...)
}

func (s *callerShape) group(values string) *callerGroup {
	g := s.groups[values]
	if g == nil {
		g = &callerGroup{all: noCaller}
		s.groups[values] = g
	}
	return g
}

// add adds an entry, which is for all addresses if ip is empty. The first of equal ones is found.
func (g *callerGroup) add(entry int, ip string) {
	prefix, err := parseNetwork(ip)
	switch {
	case err != nil: // there is none
		g.all = min(g.all, entry)
	case !prefix.IsSingleIP():
		g.networks = append(g.networks, network{prefix, entry})
	default:
		if g.addrs == nil {
			g.addrs = map[netip.Addr]int{}
		}
		if _, known := g.addrs[prefix.Addr()]; !known {
			g.addrs[prefix.Addr()] = entry
		}
	}
}

// find returns the number of the first entry that the caller matches, or false.
func (t callerTable) find(ctx context.Context) (entry int, ok bool) {
	entry = noCaller
	for i := range t {
		if g := t[i].find(ctx); g != nil {
			entry = min(entry, g.find(ctx))
		}
	}
	return entry, entry != noCaller
}

func (s *callerShape) find(ctx context.Context) *callerGroup {
	switch len(s.keys) {
	case 0:
		return s.groups[""]
	case 1:
		value, _ := ctx.Value(s.keys[0]).(string)
		return s.groups[value]
	}
	var array [128]byte
	values := array[:0]
	for _, key := range s.keys {
		value, _ := ctx.Value(key).(string)
		values = appendValue(values, value, len(s.keys))
	}
	return s.groups[string(values)]
}

func (g *callerGroup) find(ctx context.Context) int {
	if g.addrs == nil && g.networks == nil {
		return g.all
	}
	addr, ok := callerAddr(ctx)
	if !ok {
		return g.all
	}
	first := g.all
	if entry, known := g.addrs[addr]; known {
		first = min(first, entry)
	}
	for _, n := range g.networks {
		if n.entry > first {
			break
		}
		if n.prefix.Contains(addr) {
			return n.entry
		}
	}
	return first
}

// callerAddr returns the address of the caller, and whether it is known, from where limits have it.
func callerAddr(ctx context.Context) (netip.Addr, bool) {
	if addr, ok := ClientIP(ctx); ok {
		return addr, true
	}
	text, _ := ctx.Value(ipKey).(string)
	if text == "" {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}

// ipKey is boxed once.
var ipKey any = callerKey("ip")

var errNetwork = errors.New("want an address or a network, such as 203.0.113.7 or 10.0.0.0/8")

// parseNetwork reads an address, as a network of one, or a network.
func parseNetwork(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, errNetwork
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() { // no caller's address is one of these
		return netip.Prefix{}, errNetwork
	}
	return prefix.Masked(), nil
}

// checkBy returns what is wrong about the attributes of an entry.
func checkBy(by map[string]string) error {
	if len(by) == 0 {
		return errors.New("by is empty: want attributes of the caller, such as user: ann")
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(by)) {
		value := by[name]
		switch {
		case !isCallerName(name):
			errs = append(errs, fmt.Errorf("by has %q: want names of a-z, 0-9, _ and -, such as user", name))
		case value == "":
			errs = append(errs, fmt.Errorf("%s is empty: want the value of the caller", name))
		case name == "ip":
			if _, err := parseNetwork(value); err != nil {
				errs = append(errs, fmt.Errorf("ip is %q: %w", value, err))
			}
		}
	}
	return errors.Join(errs...)
}

// isCallerName reports whether a directive could have the name of an attribute.
func isCallerName(name string) bool {
	for i, c := range name {
		switch {
		case 'a' <= c && c <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return name != ""
}
