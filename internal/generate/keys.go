package generate

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"time"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// CheckKeys reports keys that do not stand for one thing throughout the packages of a module: limits that share a key
// share a bucket, so they must be equal, and a default key is one method's own. Each place is reported. Of a method that
// may have more limits than are known, each of those is compared by itself.
func CheckKeys(pkgs []*parse.Package) parse.Diagnostics {
	uses := keyUses{keys: map[moduleKey][]keyUse{}, buckets: map[moduleBuckets][]keyUse{}}
	for _, pkg := range pkgs {
		for _, file := range pkg.Files {
			for _, iface := range file.Interfaces {
				for _, m := range iface.Methods {
					uses.collect(pkg, iface, m)
				}
			}
		}
	}
	var found parse.Diagnostics
	for _, same := range uses.keys {
		found = append(found, compareKeys(same)...)
	}
	for _, same := range uses.buckets {
		found = append(found, compareBuckets(same)...)
	}
	found.Sort()
	return found
}

// keyUses are the uses of all keys, by their text, and by what the runtime tells buckets apart by.
type keyUses struct {
	keys    map[moduleKey][]keyUse
	buckets map[moduleBuckets][]keyUse
}

// moduleKey is a key by its text, within a module.
type moduleKey struct{ module, text string }

// moduleBuckets are the buckets that limits of a module share when their calls give the same values.
type moduleBuckets struct {
	module string
	Buckets
}

// keyUse are the limits that one method has under a key, or one of them.
type keyUse struct {
	pos       token.Position
	key       string
	limits    []*parse.Limit
	method    *parse.Method
	pkg       string // path
	isDefault bool
}

func (u *keyUses) collect(pkg *parse.Package, iface *parse.Interface, m *parse.Method) {
	name := MethodName(pkg.Types.Name(), iface.Name, m.Func.Name())
	use := func(limits ...*parse.Limit) keyUse {
		l := limits[0]
		return keyUse{
			pos:       pkg.Fset.PositionFor(l.Pos+token.Pos(l.Offset("key")), false),
			key:       Key(l, name),
			limits:    limits,
			method:    m,
			pkg:       pkg.Types.Path(),
			isDefault: l.Key == nil,
		}
	}
	byKey := map[string][]*parse.Limit{}
	for _, l := range m.Limits {
		text := Key(l, name)
		byKey[text] = append(byKey[text], l)
		at := moduleBuckets{pkg.Module, BucketsOf(l, name)}
		u.buckets[at] = append(u.buckets[at], use(l))
	}
	if m.Unclear {
		return
	}
	for text, limits := range byKey {
		at := moduleKey{pkg.Module, text}
		u.keys[at] = append(u.keys[at], use(limits...))
	}
}

// terms are what limits with one key must have in common.
type terms struct {
	count, burst int64
	prefetch     int64
	period, wait time.Duration
	algorithm    annotations.Algorithm
	refill       annotations.Refill
	name         string
}

// terms returns those of the limits in an order of their own.
func (u keyUse) terms(withNames bool) []terms {
	all := make([]terms, len(u.limits))
	for i, l := range u.limits {
		all[i] = terms{l.Count, l.Burst, l.Prefetch, l.Period, l.Wait, l.Algorithm, l.Refill, l.Name}
		if l.Burst == l.Count {
			all[i].burst = 0
		}
		if !withNames {
			all[i].name = ""
		}
	}
	slices.SortFunc(all, func(a, b terms) int {
		return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.burst, b.burst), cmp.Compare(a.prefetch, b.prefetch), cmp.Compare(a.period, b.period),
			cmp.Compare(a.wait, b.wait), cmp.Compare(a.algorithm, b.algorithm), cmp.Compare(a.refill, b.refill), cmp.Compare(a.name, b.name))
	})
	return all
}

func (u keyUse) agrees(other keyUse, withNames bool) bool {
	return slices.Equal(u.terms(withNames), other.terms(withNames))
}

// words are the limits in words, as far as they are compared: a name that only repeats the period as far as it must be.
func (u keyUse) words(withNames bool) string {
	all := make([]string, len(u.limits))
	for i, l := range u.limits {
		all[i] = fmt.Sprintf("%d per %s (%s)", l.Count, l.PeriodText, algorithmWords(l))
		if l.Wait > 0 {
			all[i] += " that waits up to " + DurationText(l.Wait)
		}
		if l.Prefetch > 0 {
			all[i] += fmt.Sprintf(" taken %d at once", l.Prefetch)
		}
		if withNames || l.Name != l.PeriodText {
			all[i] += " named " + l.Name
		}
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}

// reportBoth reports two uses at the place of each.
func reportBoth(a, b keyUse, message func(here, there keyUse) string) parse.Diagnostics {
	return parse.Diagnostics{{Pos: a.pos, Message: message(a, b)}, {Pos: b.pos, Message: message(b, a)}}
}

// compareKeys compares the first use of a key with the others.
func compareKeys(uses []keyUse) parse.Diagnostics {
	var found parse.Diagnostics
	first := uses[0]
	for _, use := range uses[1:] {
		switch {
		case use.isDefault && first.isDefault && use.pkg != first.pkg:
			found = append(found, reportBoth(first, use, func(here, there keyUse) string {
				return fmt.Sprintf("default key %q is also that of a method in %s: want key=", here.key, there.pkg)
			})...)
		case !use.agrees(first, true):
			found = append(found, reportBoth(first, use, differ)...)
		}
	}
	return found
}

// differ says that a key stands for other limits at another place. Those that only have other names would not share a
// bucket: it is known by its name, too, which is the period as written where there is no other.
func differ(here, there keyUse) string {
	onlyNames, want := here.agrees(there, false), "equal limits"
	if onlyNames {
		want = "equal names (name=), since buckets are known by them"
	}
	return fmt.Sprintf("key %q is for %s here, for %s at %v: want %s, or another key",
		here.key, here.words(onlyNames), there.words(onlyNames), there.pos, want)
}

// compareBuckets compares the first use of buckets with those that [compareKeys] does not compare it with.
func compareBuckets(uses []keyUse) parse.Diagnostics {
	var found parse.Diagnostics
	first := uses[0]
	for _, use := range uses[1:] {
		switch {
		case use.method == first.method, use.agrees(first, true):
		case use.key != first.key:
			found = append(found, reportBoth(first, use, func(here, there keyUse) string {
				return fmt.Sprintf("key %q is for %s here, and %q, which shares its buckets for equal values, for %s at %v: "+
					"want equal limits, or another literal text in one of them",
					here.key, here.words(false), there.key, there.words(false), there.pos)
			})...)
		case use.method.Unclear || first.method.Unclear:
			found = append(found, reportBoth(first, use, differ)...)
		}
	}
	return found
}
