package overrides

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/list"
)

// numbers are the fields that hold for all limits that share buckets, as each bucket has one limit.
var numbers = []string{"count", "time", "burst"}

// withShared returns an entry with what the file says of the others that share the buckets of its limit. It reports whether they
// agree, and what they disagree about at the entry that comes later.
func (f *file) withShared(e *limitEntry, l list.Limit) (whole entry, agree bool) {
	whole = e.entry
	whole.fields = maps.Clone(e.fields)
	agree = true
	for _, id := range l.Shared {
		other := f.entry(id)
		if other == nil || other == e { // or of a package of the same name
			continue
		}
		for _, name := range numbers {
			own, others := e.fields[name], other.fields[name]
			switch {
			case others == nil:
			case own == nil:
				if whole.fields[name] == nil {
					whole.fields[name] = others
				}
			case !equal(name, own.Value, others.Value):
				agree = false
				if isAfter(own, others) {
					f.errorf(own, "%s is %s, and %s of %s, which shares its buckets: want them equal, or one of them", name, own.Value, others.Value, id)
				}
			}
		}
	}
	return whole, agree
}

func isAfter(a, b *yaml.Node) bool {
	return a.Line > b.Line || a.Line == b.Line && a.Column > b.Column
}

// equal reports whether two values of a field are the same, however they are written.
func equal(name, a, b string) bool {
	if name != "time" {
		return a == b
	}
	return periodOf(a) == periodOf(b)
}

// periodOf returns the period of a time that is valid by itself.
func periodOf(text string) time.Duration {
	a, err := annotations.Parse("//ratelimit:count=1 time=" + strconv.Quote(text))
	if err != nil {
		return 0
	}
	return a.Period
}

// foreign returns an attribute of an entry of callers that may differ for those who share a bucket, or "".
func (f *file) foreign(e *entry, l list.Limit) string {
	for _, name := range e.by {
		if !f.mistyped[name] && !slices.Contains(l.Per, name.Value) {
			return name.Value
		}
	}
	return ""
}

// checkOwn reports whether an entry of callers may have the count and time that it has: a time is only for buckets that no others
// use, by which what these have used would be over too early, and so is the count of a token bucket, by which it is refilled for
// all. By is an attribute of this entry or one before that is foreign, before only of one before.
func (f *file) checkOwn(e *entry, by, before string, l list.Limit) bool {
	why := ""
	switch {
	case len(l.Shared) > 0:
		why = "it shares its buckets with " + strings.Join(l.Shared, ", ")
	case before != "":
		why = fmt.Sprintf("callers share buckets whatever their %s, by which an entry before goes", before)
	case by != "":
		why = fmt.Sprintf("callers share buckets whatever their %s", by)
	default:
		return true
	}
	may := true
	refuse := func(name string) {
		if n := e.fields[name]; n != nil {
			f.errorf(n, "%s is %s: want none, since %s (%s)", name, n.Value, why, describe(l))
			may = false
		}
	}
	if l.Algorithm == string(annotations.TokenBucket) {
		refuse("count")
	}
	if l.Algorithm != string(annotations.Concurrency) {
		refuse("time")
	}
	return may
}
