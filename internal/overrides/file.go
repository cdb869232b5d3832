package overrides

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// entry is what a file says of one limit, or of some of its callers.
type entry struct {
	key    *yaml.Node // the id, or the entry of the callers itself
	fields map[string]*yaml.Node
	by     []*yaml.Node      // names of attributes
	values map[string]string // of these
}

// limitEntry is what a file says of one limit.
type limitEntry struct {
	entry
	callers []entry
}

// file reads a file and keeps its mistakes.
type file struct {
	name     string
	limits   []limitEntry
	mistyped map[*yaml.Node]bool // names of attributes, which are told
	mistakes parse.Diagnostics
}

// fields are what an entry may say of a limit.
var fields = []string{"count", "time", "burst", "mode", "fail"}

// aliases are what people write who mean a name.
func aliases(name string) string {
	return map[string]string{
		"limits": "limit overrides",
		"count":  "limit max requests calls tokens permits slots",
		"time":   "period per window interval duration lease",
		"burst":  "capacity size",
		"mode":   "enabled disabled shadow enforce",
		"fail":   "failure onfail onfailure onerror",
		"by":     "caller user tenant ip",
	}[name]
}

func (f *file) errorf(n *yaml.Node, format string, args ...any) {
	f.errorAt(n.Line, n.Column, format, args...)
}

func (f *file) errorAt(line, column int, format string, args ...any) {
	f.mistakes = append(f.mistakes, parse.Diagnostic{
		Pos:     token.Position{Filename: f.name, Line: line, Column: column},
		Message: fmt.Sprintf(format, args...),
	})
}

// maxFile, maxCallers and maxNetworks are those of the runtime: how many bytes a file may have, and how many entries the callers of
// a limit, of which so many may be networks.
const (
	maxFile     = 1 << 20
	maxCallers  = 10_000
	maxNetworks = 1000
)

func (f *file) read(text []byte) {
	if len(text) > maxFile {
		f.errorAt(0, 0, "has more than %d bytes", maxFile)
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		f.errorAt(0, 0, "holds nothing: want limits, or limits: {}")
		return
	case err != nil:
		f.syntax(err)
		return
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		f.errorf(&second, "another document: want one")
	case !errors.Is(err, io.EOF):
		f.syntax(err)
		return
	}
	f.members(document.Content[0], "mode and limits", func(key, value *yaml.Node) {
		switch key.Value {
		case "mode":
			f.value(key, value)
		case "limits":
			if !isNull(value) {
				f.members(value, "limits by their ids", f.limit)
			}
		default:
			f.unknown(key, []string{"mode", "limits"})
		}
	})
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax says at its line what is no YAML.
func (f *file) syntax(err error) {
	text, line := err.Error(), 0
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		line, _ = strconv.Atoi(m[1])
	}
	f.errorAt(line, 0, "%s", text)
}

func (f *file) limit(key, value *yaml.Node) {
	isID := strings.Contains(key.Value, "#")
	if !isID {
		f.errorf(key, "%q: want an id, such as users.Service.Get#1s", key.Value)
	}
	e := limitEntry{entry: entry{key: key, fields: map[string]*yaml.Node{}}}
	if !isNull(value) {
		f.members(value, "count, time, burst, mode, fail or callers", func(key, value *yaml.Node) {
			if key.Value == "callers" {
				e.callers = f.callers(value)
				return
			}
			f.field(&e.entry, key, value, "callers")
		})
	}
	if isID {
		f.limits = append(f.limits, e)
	}
}

func (f *file) callers(n *yaml.Node) []entry {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		f.errorf(n, "callers is %s: want a list", kindOf(n))
		return nil
	}
	if len(n.Content) > maxCallers {
		f.errorf(n, "callers are %d: want at most %d, and OverrideBy for more", len(n.Content), maxCallers)
		return nil
	}
	var all []entry
	networks := 0
	for _, item := range n.Content {
		e := entry{key: item, fields: map[string]*yaml.Node{}}
		named := false
		f.members(item, "by, and count, time, burst, mode or fail", func(key, value *yaml.Node) {
			if key.Value == "by" {
				named = true
				e.by, e.values = f.by(value)
				if network, err := netip.ParsePrefix(e.values["ip"]); err == nil && !network.IsSingleIP() {
					networks++
				}
				return
			}
			f.field(&e, key, value, "by")
		})
		if !named && item.Kind == yaml.MappingNode {
			f.errorf(item, "by is missing: want attributes of the caller, such as by: {user: ann}")
		}
		all = append(all, e)
	}
	if networks > maxNetworks {
		f.errorf(n, "networks of callers are %d: want at most %d, and OverrideBy for more", networks, maxNetworks)
	}
	return all
}

// by returns the names of the attributes of an entry, and their values.
func (f *file) by(n *yaml.Node) (names []*yaml.Node, values map[string]string) {
	values = map[string]string{}
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		f.errorf(n, "by is empty: want attributes of the caller, such as user: ann")
	}
	f.members(n, "attributes of the caller, such as user: ann", func(key, value *yaml.Node) {
		switch {
		case value.Kind != yaml.ScalarNode:
			f.errorf(value, "%s is %s: want one value", key.Value, kindOf(value))
		case isNull(value) || value.Value == "":
			f.errorf(value, "%s is empty: want the value of the caller", key.Value)
		case !callerName.MatchString(key.Value):
			f.errorf(key, "by has %q: want names of a-z, 0-9, _ and -, such as user", key.Value)
		case key.Value == "ip" && !isNetwork(value.Value):
			f.errorf(key, "ip is %q: want an address or a network, such as 203.0.113.7 or 10.0.0.0/8", value.Value)
		default:
			names = append(names, key)
			values[key.Value] = value.Value
		}
	})
	return names, values
}

// field keeps the value of a field if that is good by itself. Other is what else the entry may have.
func (f *file) field(e *entry, key, value *yaml.Node, other string) {
	for _, name := range fields {
		if key.Value == name {
			if f.value(key, value) {
				e.fields[name] = value
			}
			return
		}
	}
	f.unknown(key, append(fields[:len(fields):len(fields)], other))
}

// unknown tells of a name that is none of those known.
func (f *file) unknown(key *yaml.Node, known []string) {
	if meant := spelling.Nearest(key.Value, known, aliases); meant != "" {
		f.errorf(key, "there is no %q: did you mean %q?", key.Value, meant)
		return
	}
	f.errorf(key, "there is no %q: want %s or %s", key.Value, strings.Join(known[:len(known)-1], ", "), known[len(known)-1])
}

// value reports whether the value of a field is one that a directive could have.
func (f *file) value(key, value *yaml.Node) bool {
	if value.Kind != yaml.ScalarNode {
		f.errorf(value, "%s is %s: want one value", key.Value, kindOf(value))
		return false
	}
	if value.Value == "" {
		f.errorf(value, "%s is empty: want a value, or no %s", key.Value, key.Value)
		return false
	}
	if number := key.Value == "count" || key.Value == "burst"; number && !isInteger(value) {
		f.errorf(value, "%s is %q: want an integer, 1 to 1000000000", key.Value, value.Value)
		return false
	}
	directive := "//ratelimit:count=1 "
	if key.Value == "count" || key.Value == "burst" { // which are in order beside any of these
		directive = "//ratelimit:time=366d "
	}
	if key.Value == "burst" {
		directive += "count=1000000000 "
	}
	_, err := annotations.Parse(directive + key.Value + "=" + strconv.Quote(value.Value))
	var mistakes annotations.Errors
	if errors.As(err, &mistakes) {
		f.errorf(value, "%s", strings.Replace(mistakes[0].Message, "=", " is ", 1))
	}
	return err == nil
}

// members goes through a mapping, of which each key may stand once.
func (f *file) members(n *yaml.Node, want string, read func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		f.errorf(n, "%s: want %s", kindOf(n), want)
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			f.errorf(key, "%s: want %s", kindOf(key), want)
		case seen[key.Value]:
			f.errorf(key, "%s is there twice: want it once", key.Value)
		default:
			seen[key.Value] = true
			read(key, value)
		}
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// isInteger reports whether a value is a number as people write it, without a sign, a leading zero or an underscore.
func isInteger(n *yaml.Node) bool {
	number, err := strconv.ParseInt(n.Value, 10, 64)
	return err == nil && n.ShortTag() == "!!int" && strconv.FormatInt(number, 10) == n.Value
}

// kindOf names what a node is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias, which is not known here"
	}
	return strconv.Quote(n.Value)
}

var callerName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// isNetwork reports whether a text is an address of a caller, or a network of such.
func isNetwork(text string) bool {
	if strings.Contains(text, "/") {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && !prefix.Addr().Is4In6()
	}
	addr, err := netip.ParseAddr(text)
	return err == nil && addr.Zone() == ""
}
