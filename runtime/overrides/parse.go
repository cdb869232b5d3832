package overrides

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Parse reads overrides that are written as in a file of them, in YAML or JSON. The name is for errors, of which it returns
// all, a line each: limits.yaml:4:12: count is 0: want an integer, 1 to 1000000000. A text that holds nothing is an error:
// where nothing is to be overridden, it says limits: {}. The error is a [*ratelimit.OverridesError].
func Parse(name string, text []byte) (*ratelimit.Overrides, error) {
	read, err := parse(name, text)
	if err != nil {
		return nil, &ratelimit.OverridesError{Err: err}
	}
	return read, nil
}

func parse(name string, text []byte) (*ratelimit.Overrides, error) {
	p := &parser{name: name, read: &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{}}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: holds nothing: want limits, or limits: {}", name)
	case err != nil:
		return nil, p.syntax(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		p.errorf(&second, "another document: want one")
	case !errors.Is(err, io.EOF):
		return nil, p.syntax(err)
	}
	p.file(document.Content[0])
	if p.errs != nil {
		return nil, errors.Join(p.errs...)
	}
	return p.read, nil
}

// parser reads one text.
type parser struct {
	name string
	read *ratelimit.Overrides
	errs []error
}

func (p *parser) errorf(n *yaml.Node, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: %s", p.name, n.Line, n.Column, fmt.Sprintf(format, args...)))
}

// errorsAt tells what package ratelimit has found wrong about a node.
func (p *parser) errorsAt(n *yaml.Node, err error) {
	if err != nil {
		p.errorf(n, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax says at its line what is no YAML.
func (p *parser) syntax(err error) error {
	text := err.Error()
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		if text = text[len(m[0]):]; m[1] != "" {
			return fmt.Errorf("%s:%s: %s", p.name, m[1], text)
		}
	}
	return fmt.Errorf("%s: %s", p.name, text)
}

func (p *parser) file(n *yaml.Node) {
	p.members(n, "mode and limits", func(key, value *yaml.Node) {
		switch key.Value {
		case "mode":
			if text, ok := p.scalar(key, value); ok {
				var read ratelimit.Overrides
				p.errorsAt(value, read.UnmarshalJSON(member("mode", text)))
				p.read.Mode = read.Mode
			}
		case "limits":
			if isNull(value) { // all entries may be comments
				return
			}
			p.members(value, "limits by their ids", p.limit)
		default:
			p.errorf(key, "there is no %q: want mode or limits", key.Value)
		}
	})
}

func (p *parser) limit(key, value *yaml.Node) {
	if !strings.Contains(key.Value, "#") {
		p.errorf(key, "%q: want an id, such as users.Service.Get#1s", key.Value)
	}
	o := &ratelimit.Override{}
	p.read.Limits[key.Value] = o
	if isNull(value) {
		return
	}
	known := map[string]json.RawMessage{}
	p.members(value, "count, time, burst, mode, fail or callers", func(key, value *yaml.Node) {
		if key.Value == "callers" {
			o.Callers = p.callers(value)
			return
		}
		p.field(known, key, value)
	})
	callers := o.Callers
	p.errorsAt(value, json.Unmarshal(object(known), o))
	o.Callers = callers
}

// field adds a field to those of an entry that are known to be good.
func (p *parser) field(known map[string]json.RawMessage, key, value *yaml.Node) {
	switch key.Value {
	case "count", "time", "burst", "mode", "fail":
	default:
		p.errorsAt(key, new(ratelimit.Override).UnmarshalJSON(member(key.Value, []byte("0"))))
		return
	}
	text, ok := p.scalar(key, value)
	if !ok {
		return
	}
	if err := new(ratelimit.Override).UnmarshalJSON(member(key.Value, text)); err != nil {
		p.errorsAt(value, err)
		return
	}
	known[key.Value] = text
}

func (p *parser) callers(n *yaml.Node) []ratelimit.CallerOverride {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.errorf(n, "callers is %s: want a list", kindOf(n))
		return nil
	}
	var all []ratelimit.CallerOverride
	for _, entry := range n.Content {
		var by map[string]string
		known := map[string]json.RawMessage{}
		p.members(entry, "by, and count, time, burst, mode or fail", func(key, value *yaml.Node) {
			if key.Value == "by" {
				by = p.by(value)
				return
			}
			p.field(known, key, value)
		})
		if by == nil && entry.Kind == yaml.MappingNode {
			p.errorf(entry, "by is missing: want attributes of the caller, such as by: {user: ann}")
		}
		var o ratelimit.Override
		p.errorsAt(entry, json.Unmarshal(object(known), &o))
		all = append(all, ratelimit.CallerOverride{By: by, Count: o.Count, Period: o.Period, Burst: o.Burst, Mode: o.Mode, Fail: o.Fail})
	}
	return all
}

// by returns the attributes of an entry. It is not nil, or by would be missing.
func (p *parser) by(n *yaml.Node) map[string]string {
	by := map[string]string{}
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		p.errorf(n, "by is empty: want attributes of the caller, such as user: ann")
	}
	p.members(n, "attributes of the caller, such as user: ann", func(key, value *yaml.Node) {
		switch {
		case value.Kind != yaml.ScalarNode:
			p.errorf(value, "%s is %s: want one value", key.Value, kindOf(value))
			return
		case isNull(value) || value.Value == "":
			p.errorf(value, "%s is empty: want the value of the caller", key.Value)
			return
		}
		text, _ := json.Marshal(map[string]any{"by": map[string]string{key.Value: value.Value}})
		if err := new(ratelimit.CallerOverride).UnmarshalJSON(text); err != nil {
			p.errorsAt(key, err)
		}
		by[key.Value] = value.Value
	})
	return by
}

// members goes through a mapping, of which each key may stand once.
func (p *parser) members(n *yaml.Node, want string, read func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.errorf(n, "%s: want %s", kindOf(n), want)
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			p.errorf(key, "%s: want %s", kindOf(key), want)
		case seen[key.Value]:
			p.errorf(key, "%s is there twice: want it once", key.Value)
		default:
			seen[key.Value] = true
			read(key, value)
		}
	}
}

// scalar returns the value of a key as JSON: an integer as it is, and all else as text.
func (p *parser) scalar(key, n *yaml.Node) (text json.RawMessage, ok bool) {
	if n.Kind != yaml.ScalarNode {
		p.errorf(n, "%s is %s: want one value", key.Value, kindOf(n))
		return nil, false
	}
	if number, err := strconv.ParseInt(n.Value, 10, 64); err == nil && n.ShortTag() == "!!int" && strconv.FormatInt(number, 10) == n.Value {
		return json.RawMessage(n.Value), true
	}
	text, err := json.Marshal(n.Value)
	return text, err == nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

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

// member returns an object of one member.
func member(name string, value json.RawMessage) []byte {
	return object(map[string]json.RawMessage{name: value})
}

func object(members map[string]json.RawMessage) []byte {
	text, _ := json.Marshal(members) // all of them are JSON
	return text
}
