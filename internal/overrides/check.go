// Package overrides finds the mistakes in a file of overrides, beside the limits that it is for. What it accepts is what the
// package of the same name in the runtime takes.
package overrides

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/list"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// Check returns the mistakes in the text of a file, in order. All says whether the limits are all that there are: if not, an id
// that is not among them may be one that is.
func Check(name string, text []byte, limits []list.Limit, all bool) parse.Diagnostics {
	f := &file{name: name, mistyped: map[*yaml.Node]bool{}}
	f.read(text)
	known := byID{}
	for _, l := range limits {
		known[l.ID] = append(known[l.ID], l)
	}
	attributes := attributesOf(limits)
	for i := range f.limits {
		e := &f.limits[i]
		for i := range e.callers {
			f.checkNames(e.callers[i].by, attributes)
		}
		if same := known[e.key.Value]; same != nil {
			for _, l := range same {
				f.checkFor(e, l, known)
			}
		} else if all {
			f.unknownID(e.key, known)
		}
		f.checkOrder(e.callers)
	}
	f.mistakes.Sort()
	return f.mistakes
}

// byID are limits by their ids. Packages of one name may have limits of one id.
type byID map[string][]list.Limit

func (f *file) unknownID(key *yaml.Node, known byID) {
	ids := make([]string, 0, len(known))
	for id := range known {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if meant := spelling.Nearest(key.Value, ids, noAliases); meant != "" {
		f.errorf(key, "there is no limit %s: did you mean %s?", key.Value, meant)
		return
	}
	f.errorf(key, "there is no limit %s: want an id that ratelimitgen list shows", key.Value)
}

func noAliases(string) string { return "" }

// attributesOf returns the attributes of callers that limits go by.
func attributesOf(limits []list.Limit) []string {
	names := []string{"ip"}
	for _, l := range limits {
		for _, name := range l.Per {
			if !strings.HasPrefix(name, "{") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// checkNames reports names of attributes that are likely to be mistyped ones of which limits go by. Others may be in the contexts
// of calls all the same.
func (f *file) checkNames(by []*yaml.Node, known []string) {
	for _, name := range by {
		if slices.Contains(known, name.Value) {
			continue
		}
		if meant := spelling.Nearest(name.Value, known, noAliases); meant != "" {
			f.mistyped[name] = true
			f.errorf(name, "no limit goes by %q: did you mean %q?", name.Value, meant)
		}
	}
}

// checkFor reports what a limit, and those that share its buckets, cannot have of what is said of it.
func (f *file) checkFor(e *limitEntry, l list.Limit, known byID) {
	whole, agree := f.withShared(e, l)
	if !agree || !f.check(&whole, nil, l) {
		return // nor can it have what its callers have beside that
	}
	by := "" // what those who share a bucket may differ in, who match an entry
	for i := range e.callers {
		before := by
		by = cmp.Or(by, f.foreign(&e.callers[i], l))
		if f.checkOwn(&e.callers[i], by, before, l) {
			f.check(&e.callers[i], &whole, l)
		}
	}
	for _, id := range l.Shared {
		if f.entry(id) != nil {
			continue // it is checked by itself
		}
		for _, other := range known[id] {
			if !f.check(&whole, nil, other) {
				return
			}
		}
	}
}

// entry returns what the file says of a limit, or nil.
func (f *file) entry(id string) *limitEntry {
	for i := range f.limits {
		if f.limits[i].key.Value == id {
			return &f.limits[i]
		}
	}
	return nil
}

// part is an attribute of a directive that is made of a limit and what overrides it.
type part struct {
	start int        // in the directive
	node  *yaml.Node // of the entry that is checked; nil if that does not say it
}

// check reports whether a limit can have an entry, beside what is said of all callers, if that is another one, and all that it
// cannot have: what a directive with all of it could not.
func (f *file) check(e, outer *entry, l list.Limit) bool {
	if len(e.fields) == 0 {
		return true
	}
	var text strings.Builder
	var parts []part
	text.WriteString("//ratelimit:")
	add := func(name, value string) {
		node := e.fields[name]
		switch {
		case node != nil:
			value = strconv.Quote(node.Value)
		case outer != nil && outer.fields[name] != nil:
			value = strconv.Quote(outer.fields[name].Value)
		}
		if value != "" {
			parts = append(parts, part{text.Len(), node})
			fmt.Fprintf(&text, "%s=%s ", name, value)
		}
	}
	add("count", strconv.FormatInt(l.Count, 10))
	add("time", l.Time)
	add("burst", number(l.Burst))
	add("algorithm", l.Algorithm)
	add("refill", l.Refill)
	if l.Cost != nil {
		add("cost", strconv.FormatInt(*l.Cost, 10))
	}
	add("wait", l.Wait)
	_, err := annotations.Parse(text.String())
	var mistakes annotations.Errors
	if !errors.As(err, &mistakes) {
		return true
	}
	for _, m := range mistakes {
		f.errorf(nodeOf(parts, m.Offset), "%s (%s)", m.Message, describe(l))
	}
	return false
}

// describe says which limit is meant, and where it is.
func describe(l list.Limit) string { return fmt.Sprintf("limit %s at %s:%d", l.Name, l.File, l.Line) }

// nodeOf returns what the entry says where a mistake is, or else the first that it says: without, all was in order.
func nodeOf(parts []part, offset int) *yaml.Node {
	var first *yaml.Node
	for i, p := range parts {
		isThere := p.start <= offset && (i == len(parts)-1 || offset < parts[i+1].start)
		if p.node != nil && isThere {
			return p.node
		}
		first = cmp.Or(first, p.node)
	}
	return first
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
