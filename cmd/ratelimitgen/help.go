package main

import (
	_ "embed"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// docSource has the manual: the documentation of this package.
//
//go:embed doc.go
var docSource string

// manual returns the manual as plain text, or what it says about a command if there is one of that name.
func manual(command string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", docSource, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return docSource // the file has been compiled, so this is for readers of this function only
	}
	doc := new(comment.Parser).Parse(file.Doc.Text())
	printer := comment.Printer{TextWidth: 100}
	usage := usageOf(command)
	if usage == "" {
		return string(printer.Text(doc))
	}
	section := sectionOf(doc, command)
	if section == nil {
		return usage
	}
	doc.Content = slices.Concat(section, flagsIn(sectionOf(doc, "flags"), usage))
	return usage + "\n" + string(printer.Text(doc))
}

// flagsIn returns the section about flags without those that are not in the usage of a command.
func flagsIn(section []comment.Block, usage string) []comment.Block {
	section = slices.Clone(section)
	for i, block := range section {
		code, ok := block.(*comment.Code)
		if !ok {
			continue
		}
		var text strings.Builder
		taken := false
		for line := range strings.Lines(code.Text) {
			if strings.HasPrefix(line, "-") {
				name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
				taken = name == "-h" || strings.Contains(usage, "["+name+" ") || strings.Contains(usage, "["+name+"]")
			}
			if taken {
				text.WriteString(line)
			}
		}
		section[i] = &comment.Code{Text: text.String()}
	}
	return section
}

// usageOf returns the line of the manual that shows how to call a command, or "" if there is no such command.
func usageOf(command string) string {
	if command == "" {
		return ""
	}
	for line := range strings.Lines(docSource) {
		if line, ok := strings.CutPrefix(line, "//\tratelimitgen "); ok && strings.HasPrefix(strings.TrimPrefix(line, "["), command) {
			return "usage: ratelimitgen " + line
		}
	}
	return ""
}

// sectionOf returns the section of a document that is called like a command, without regard to case.
func sectionOf(doc *comment.Doc, name string) []comment.Block {
	isHeading := func(block comment.Block) bool {
		_, ok := block.(*comment.Heading)
		return ok
	}
	start := slices.IndexFunc(doc.Content, func(block comment.Block) bool {
		heading, ok := block.(*comment.Heading)
		if !ok || len(heading.Text) != 1 {
			return false
		}
		title, ok := heading.Text[0].(comment.Plain)
		return ok && strings.EqualFold(string(title), name)
	})
	if start < 0 {
		return nil
	}
	section := doc.Content[start:]
	if end := slices.IndexFunc(section[1:], isHeading); end >= 0 {
		section = section[:1+end]
	}
	return section
}
