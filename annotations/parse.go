package annotations

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

const (
	prefix = "//ratelimit:"
	blanks = " \t"

	wantAttributes = "attributes such as count=5, or skip"
)

// Parse reads one comment as go/ast has it, from its first slash to its last byte. A comment that has nothing to do with
// rate limits gives nil and no error. Any error is an [Errors] with every mistake of the directive; a comment that was
// meant as a directive but that Go does not read as one, such as "// ratelimit:count=5", is such a mistake, so that a
// typo never leaves a method without its limit.
func Parse(comment string) (*Annotation, error) {
	text := strings.TrimRight(comment, blanks+"\r")
	body, ok := strings.CutPrefix(text, prefix)
	if !ok || strings.IndexAny(body, blanks) == 0 {
		if mistake := nearMiss(text); mistake != nil {
			return nil, Errors{mistake}
		}
		return nil, nil
	}
	d := directive{text: text, annotation: &Annotation{}}
	d.read()
	if len(d.errs) > 0 {
		slices.SortStableFunc(d.errs, func(a, b *Error) int { return cmp.Compare(a.Offset, b.Offset) })
		return nil, d.errs
	}
	return d.annotation, nil
}

// directive is a comment on its way to an annotation.
type directive struct {
	text       string
	annotation *Annotation
	errs       Errors

	// meant are the attributes that are written, or whose name is only misspelled: none of them is missing.
	meant map[string]bool
}

func (d *directive) read() {
	l := lexer{text: d.text, pos: len(prefix)}
	if d.readVerbWithColon() {
		return
	}
	word := l.upTo(blanks)
	l.skipBlanks()
	rest := l.rest()
	switch {
	case word == "":
		d.errs.add(0, "%s is empty: want %s", prefix, wantAttributes)
	case strings.HasPrefix(rest, "="): // whatever the word is, it is meant as a name
		d.readAttributes(len(prefix))
	case word == "skip" && rest == "":
		d.annotation.Exempt = true
	case word == "skip":
		d.errs.add(l.pos, "skip stands alone: want %sskip, or the attribute skip={condition}", prefix)
	case word == "limit" && rest == "":
		d.errs.add(len(prefix), "limit without attributes: want limit count=5")
	case word == "limit":
		d.readAttributes(l.pos)
	case strings.Contains(word, "=") || lookup(word) != nil || startsAttribute(word):
		d.readAttributes(len(prefix))
	default:
		known := nearestVerb(word)
		d.errs.add(len(prefix), "unknown directive %q: %s", word, didYouMean(known, "want "+wantAttributes))
		if known != "" && isWord(word) { // or else there is a value in it
			d.errs.edit(len(prefix), word, known)
		}
		if rest != "" {
			d.readAttributes(l.pos)
		}
	}
}

// readVerbWithColon reads a verb with a colon behind it, as in limit:count=5 or skip:true, and reports whether there is one. What
// has a value is rather an attribute: limit:5 is a count, and skip:{e} a condition.
func (d *directive) readVerbWithColon() bool {
	verb, rest, ok := strings.Cut(d.text[len(prefix):], ":")
	if !ok || verb == "" {
		return false
	}
	rest = strings.TrimLeft(rest, blanks)
	start := len(d.text) - len(rest)
	switch {
	case verb == "skip" && !strings.HasPrefix(rest, "{"), verb == "limit" && rest == "skip":
		body := d.text[len(prefix):]
		d.errs.add(len(prefix), "%q: want skip alone", body)
		if rest == "" || rest == "true" || rest == "skip" { // or else somebody may want a limit
			d.errs.edit(len(prefix), body, "skip")
		}
	case verb == "limit" && (firstAttribute.MatchString(rest) || startsAttribute(rest)):
		colon := len(prefix) + len(verb)
		d.errs.add(colon, "limit: colon behind it: want a blank")
		d.errs.edit(colon, d.text[colon:start], " ")
		d.readAttributes(start)
	default:
		return false
	}
	return true
}

// startsAttribute reports whether a text begins with the name of an attribute, near enough, and a colon in the place of its =.
func startsAttribute(text string) bool {
	name, _, ok := strings.Cut(text, ":")
	return ok && nearestAttribute(name) != ""
}

// isWord reports whether a text is made of letters, and of what may join them.
func isWord(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsLetter(r) || r == '-' || r == '_' }) == ""
}

// readAttributes reads the attributes from offset to the end of the line, each by its row of the table, and then checks
// them against each other.
func (d *directive) readAttributes(offset int) {
	attributes, errs, isAll := lex(d.text, offset)
	d.errs = append(d.errs, errs...)
	d.meant = make(map[string]bool)
	for _, attr := range attributes {
		row := lookup(attr.name)
		switch {
		case row == nil:
			known := nearestAttribute(attr.name)
			d.meant[known] = true
			hint := didYouMean(known, "want "+list(attributeNames()))
			d.errs.add(attr.offset, "unknown attribute %q: %s", attr.name, hint)
			if known != "" && !slices.ContainsFunc(attributes, func(other attribute) bool { return other.name == known }) {
				d.errs.edit(attr.offset, attr.name, known)
			}
			continue
		case d.annotation.Has(attr.name):
			d.errs.add(attr.offset, "%s is written twice: want it once", attr.name)
			continue
		case attr.bare && !row.boolean:
			d.errs.add(attr.offset, "%s: want %[1]s=VALUE", attr.name)
		case !attr.broken:
			d.errs = append(d.errs, row.set(d.annotation, attr.value)...)
		}
		d.meant[attr.name] = true
		d.annotation.attributes = append(d.annotation.attributes, attr)
	}
	if isAll { // what is unreadable may be the very attribute that seems to be missing
		d.checkComplete()
	}
	d.check()
}
