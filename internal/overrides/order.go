package overrides

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// maxAttributes is how many attributes an entry may have to be compared with those before it, all sets of them one by one.
const maxAttributes = 8

// earlier are entries of callers that have the same values of the same attributes, beside ip.
type earlier struct {
	all      *entry // that does not go by ip
	networks []netip.Prefix
	entries  []*entry // of the networks
	addrs    map[netip.Addr]*entry
}

// checkOrder reports entries of callers that never count, as all whom they are for match one before.
func (f *file) checkOrder(callers []entry) {
	before := map[string]*earlier{}
	for i := range callers {
		e := &callers[i]
		if len(e.values) == 0 || len(e.values) > maxAttributes {
			continue // what is wrong about it is told
		}
		names := slices.Sorted(maps.Keys(e.values))
		names = slices.DeleteFunc(names, func(name string) bool { return name == "ip" })
		ip := networkOf(e.values["ip"])
		if found := find(before, e, names, ip); found != nil {
			f.errorf(e.key, "it never counts: all whom it is for match the entry of line %d before", found.key.Line)
			continue
		}
		all := valuesOf(e, names, 1<<len(names)-1)
		if before[all] == nil {
			before[all] = &earlier{addrs: map[netip.Addr]*entry{}}
		}
		before[all].add(e, ip)
	}
}

// find returns an entry that goes by some of the attributes of e, or by all of them, and matches all whom e is for.
func find(before map[string]*earlier, e *entry, names []string, ip netip.Prefix) *entry {
	for set := range 1 << len(names) {
		if b := before[valuesOf(e, names, set)]; b != nil {
			if found := b.find(ip); found != nil {
				return found
			}
		}
	}
	return nil
}

// valuesOf tells the values of a set of attributes from all others.
func valuesOf(e *entry, names []string, set int) string {
	var b strings.Builder
	for i, name := range names {
		if set&(1<<i) != 0 {
			fmt.Fprintf(&b, "%s=%q ", name, e.values[name])
		}
	}
	return b.String()
}

func (b *earlier) add(e *entry, ip netip.Prefix) {
	switch {
	case !ip.IsValid():
		b.all = e
	case ip.IsSingleIP():
		b.addrs[ip.Addr()] = e
	default:
		b.networks, b.entries = append(b.networks, ip), append(b.entries, e)
	}
}

func (b *earlier) find(ip netip.Prefix) *entry {
	if b.all != nil || !ip.IsValid() {
		return b.all
	}
	if e := b.addrs[ip.Addr()]; e != nil && ip.IsSingleIP() {
		return e
	}
	for i, network := range b.networks {
		if network.Bits() <= ip.Bits() && network.Contains(ip.Addr()) {
			return b.entries[i]
		}
	}
	return nil
}

// networkOf returns the network of an entry, that of one address if it names one, or none.
func networkOf(text string) netip.Prefix {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network.Masked()
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap()
	return netip.PrefixFrom(addr, addr.BitLen())
}
