package list

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// override is what an overrides file may say about a limit.
type override struct {
	Count int64  `yaml:"count"`
	Time  string `yaml:"time"`
	Burst int64  `yaml:"burst,omitempty"`
	Mode  string `yaml:"mode,omitempty"`
	Fail  string `yaml:"fail,omitempty"`
}

const yamlHead = `Limits by their ids, as the directives have them: a file of overrides to start with.
Delete what is not to be overridden. What stays holds from then on, whatever the directives say.
What else a directive says, such as prefetch and wait, cannot be overridden. A limit may also have
"callers", a list of entries for some of them, each with "by", such as {user: ann}, and its own fields.`

const yamlShared = `
Limits that share buckets have one count, time and burst: change these in all of them, or in one and delete them
from the others.`

// writeYAML writes a file of overrides that changes nothing.
func writeYAML(w io.Writer, limits []Limit) error {
	entries := &yaml.Node{Kind: yaml.MappingNode}
	head := yamlHead
	if slices.ContainsFunc(limits, func(l Limit) bool { return len(l.Shared) > 0 }) {
		head += yamlShared
	}
	for len(limits) > 0 {
		n := 1
		for n < len(limits) && limits[n].ID == limits[0].ID {
			n++
		}
		if err := addEntry(entries, limits[:n]); err != nil {
			return err
		}
		limits = limits[n:]
	}
	top := &yaml.Node{Kind: yaml.ScalarNode, Value: "limits", HeadComment: head}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{top, entries}}); err != nil {
		return err
	}
	return encoder.Close()
}

// addEntry adds the entry of the limits with one ID, of packages of one name if they are several. An override would hold
// for all of them, so there is none if they differ.
func addEntry(entries *yaml.Node, limits []Limit) error {
	first, comment := overrideOf(limits[0]), []string{}
	differ := false
	for _, l := range limits {
		differ = differ || overrideOf(l) != first
		comment = append(comment, describe(l))
	}
	value := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	if !differ {
		value = &yaml.Node{}
		if err := value.Encode(first); err != nil {
			return err
		}
	}
	if len(limits) > 1 {
		comment = append(comment, "What stands here holds for all of these.")
	}
	key := &yaml.Node{Kind: yaml.ScalarNode, Value: limits[0].ID, HeadComment: strings.Join(comment, "\n")}
	entries.Content = append(entries.Content, key, value)
	return nil
}

func overrideOf(l Limit) override {
	return override{Count: l.Count, Time: l.Time, Burst: l.Burst, Mode: l.Mode, Fail: l.Fail}
}

// describe is what a comment says about a limit.
func describe(l Limit) string {
	text := fmt.Sprintf("%s: %s", l.source(), l.amount())
	if len(l.Per) > 0 {
		text += " for each " + strings.Join(l.Per, ", ")
	}
	text += " (" + l.Algorithm + ")"
	if len(l.Shared) > 0 {
		text += ", shares its buckets with " + strings.Join(l.Shared, ", ")
	}
	return text
}
