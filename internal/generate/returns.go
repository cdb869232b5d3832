package generate

import (
	"slices"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// returns are the methods of a package whose calls may give units back before their time, by the buckets that these come
// back to. Other packages are not looked at: whether they are known depends on what else is generated at the same time.
type returns map[Buckets][]*parse.Method

func newReturns(pkg *parse.Package) returns {
	r := returns{}
	for _, file := range pkg.Files {
		for _, iface := range file.Interfaces {
			for _, m := range iface.Methods {
				r.add(m, MethodName(pkg.Types.Name(), iface.Name, m.Func.Name()))
			}
		}
	}
	return r
}

func (r returns) add(m *parse.Method, name string) {
	waits := slices.ContainsFunc(m.Limits, func(l *parse.Limit) bool { return l.Wait > 0 })
	for _, l := range m.Limits {
		if waits || l.Refund != nil { // who gives up waiting for one limit gives back what was taken of all
			at := BucketsOf(l, name)
			r[at] = append(r[at], m)
		}
	}
}

// toBuckets reports whether units may come back to the buckets of a limit in a way that the runtime does not know of: by
// another method, or by a refund where a call ends anyway, since it has slots. These always may.
func (r returns) toBuckets(m *method, l *parse.Limit) bool {
	if l.Algorithm == annotations.Concurrency {
		return false
	}
	others := func(other *parse.Method) bool { return other != m.Method }
	return l.Refund != nil && m.leases() || slices.ContainsFunc(r[BucketsOf(l, m.fullName())], others)
}
