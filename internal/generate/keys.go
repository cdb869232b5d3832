package generate

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// CheckKeys reports keys that do not stand for one thing throughout the packages of a module: limits that share a key
// share a bucket, so they must be equal, and a default key is one method's own. Each place is reported.
func CheckKeys(pkgs []*parse.Package) parse.Diagnostics {
	uses := keyUses{keys: map[moduleKey][]keyUse{}, buckets: map[moduleBuckets][]keyUse{}}
	for _, pkg := range pkgs {
		if pkg.Mistaken {
			continue // limits are missing
		}
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
		found = append(found, compare(same)...)
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
	limits    string // in words
	pkg       string // path
	isDefault bool
}

func (u *keyUses) collect(pkg *parse.Package, iface *parse.Interface, m *parse.Method) {
	name := MethodName(pkg.Types.Name(), iface.Name, m.Func.Name())
	use := func(l *parse.Limit, limits string) keyUse {
		return keyUse{
			pos:       pkg.Fset.PositionFor(l.Pos+token.Pos(l.Offset("key")), false),
			key:       Key(l, name),
			limits:    limits,
			pkg:       pkg.Types.Path(),
			isDefault: l.Key == nil,
		}
	}
	limits := map[string][]*parse.Limit{}
	for _, l := range m.Limits {
		text := Key(l, name)
		limits[text] = append(limits[text], l)
		at := moduleBuckets{pkg.Module, BucketsOf(l, name)}
		u.buckets[at] = append(u.buckets[at], use(l, identityWords(l)))
	}
	for text, ls := range limits {
		words := make([]string, len(ls))
		for i, l := range ls {
			words[i] = identityWords(l)
		}
		slices.Sort(words)
		at := moduleKey{pkg.Module, text}
		u.keys[at] = append(u.keys[at], use(ls[0], strings.Join(words, " and ")))
	}
}

// identityWords is a limit in words, as far as all limits with its key must have it in common.
func identityWords(l *parse.Limit) string {
	text := fmt.Sprintf("%d per %s (%s)", l.Count, l.PeriodText, algorithmWords(l))
	if l.Wait > 0 {
		text += " that waits up to " + DurationText(l.Wait)
	}
	if l.Name != l.PeriodText {
		text += " named " + l.Name
	}
	return text
}

// compare compares the first use of a key with the others.
func compare(uses []keyUse) parse.Diagnostics {
	var found parse.Diagnostics
	report := func(here, there keyUse) {
		var message string
		if here.isDefault && there.isDefault && here.pkg != there.pkg {
			message = fmt.Sprintf("default key %q is also that of a method in %s: want key=", here.key, there.pkg)
		} else {
			message = fmt.Sprintf("key %q is for %s here, for %s at %s: want equal limits, or another key",
				here.key, here.limits, there.limits, parse.Where(there.pos, here.pos))
		}
		found = append(found, parse.Diagnostic{Pos: here.pos, Message: message})
	}
	first := uses[0]
	for _, use := range uses[1:] {
		if use.isDefault && first.isDefault && use.pkg != first.pkg || use.limits != first.limits {
			report(first, use)
			report(use, first)
		}
	}
	return found
}

// compareBuckets compares the first use of buckets with those by keys of other texts.
func compareBuckets(uses []keyUse) parse.Diagnostics {
	var found parse.Diagnostics
	report := func(here, there keyUse) {
		found = append(found, parse.Diagnostic{Pos: here.pos, Message: fmt.Sprintf(
			"key %q is for %s here, and %q, which shares its buckets for equal values, for %s at %s: want equal limits, or another literal text in one of them",
			here.key, here.limits, there.key, there.limits, parse.Where(there.pos, here.pos))})
	}
	first := uses[0]
	for _, use := range uses[1:] {
		if use.key != first.key && use.limits != first.limits {
			report(first, use)
			report(use, first)
		}
	}
	return found
}
