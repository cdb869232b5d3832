package generate

import (
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// CheckKeys reports keys that do not stand for one thing throughout the packages of a module: limits that share a key
// share a bucket, so they must be equal, and a default key is one method's own. Each place is reported.
func CheckKeys(pkgs []*parse.Package) parse.Diagnostics {
	keys := map[moduleKey]*key{}
	for _, pkg := range pkgs {
		if pkg.Mistaken {
			continue // limits are missing
		}
		for _, file := range pkg.Files {
			for _, iface := range file.Interfaces {
				for _, m := range iface.Methods {
					collect(keys, pkg, iface, m)
				}
			}
		}
	}
	var found parse.Diagnostics
	for at, k := range keys {
		found = append(found, k.mistakes(at.text)...)
	}
	found.Sort()
	return found
}

// moduleKey is a key by its text, within a module.
type moduleKey struct{ module, text string }

// key is what stands behind one key.
type key struct{ uses []keyUse }

// keyUse are the limits that one method has under a key.
type keyUse struct {
	pos       token.Position
	limits    string // in words
	pkg       string // path
	isDefault bool
}

func collect(keys map[moduleKey]*key, pkg *parse.Package, iface *parse.Interface, m *parse.Method) {
	name := MethodName(pkg.Types.Name(), iface.Name, m.Func.Name())
	limits := map[string][]*parse.Limit{}
	for _, l := range m.Limits {
		text := Key(l, name)
		limits[text] = append(limits[text], l)
	}
	for text, ls := range limits {
		words := make([]string, len(ls))
		for i, l := range ls {
			words[i] = identityWords(l)
		}
		slices.Sort(words)
		at := moduleKey{pkg.Module, text}
		if keys[at] == nil {
			keys[at] = &key{}
		}
		keys[at].uses = append(keys[at].uses, keyUse{
			pos:       pkg.Fset.PositionFor(ls[0].Pos+token.Pos(ls[0].Offset("key")), false),
			limits:    strings.Join(words, " and "),
			pkg:       pkg.Types.Path(),
			isDefault: ls[0].Key == nil,
		})
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

// relativeTo returns a position in words, its file as seen from the folder of another position's.
func relativeTo(here, there token.Position) string {
	if name, err := filepath.Rel(filepath.Dir(here.Filename), there.Filename); err == nil {
		there.Filename = filepath.ToSlash(name)
	}
	return there.String()
}

// mistakes compares the first use of a key with the others.
func (k *key) mistakes(text string) parse.Diagnostics {
	var found parse.Diagnostics
	report := func(here, there keyUse) {
		var message string
		if here.isDefault && there.isDefault && here.pkg != there.pkg {
			message = fmt.Sprintf("default key %q is also that of a method in %s: want key=", text, there.pkg)
		} else {
			message = fmt.Sprintf("key %q is for %s here, for %s at %s: want equal limits, or another key",
				text, here.limits, there.limits, relativeTo(here.pos, there.pos))
		}
		found = append(found, parse.Diagnostic{Pos: here.pos, Message: message})
	}
	first := k.uses[0]
	for _, use := range k.uses[1:] {
		if use.isDefault && first.isDefault && use.pkg != first.pkg || use.limits != first.limits {
			report(first, use)
			report(use, first)
		}
	}
	return found
}
