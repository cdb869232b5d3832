package main

import (
	_ "embed"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"strings"
)

// docSource has the manual: the documentation of this package.
//
//go:embed doc.go
var docSource string

// manual returns the manual as plain text, or the section about a command if it has one.
func manual(command string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", docSource, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return docSource // the file has been compiled, so this is for readers of this function only
	}
	doc := new(comment.Parser).Parse(file.Doc.Text())
	if section := sectionOf(doc, command); section != nil {
		doc.Content = section
	}
	printer := comment.Printer{TextWidth: 100}
	return string(printer.Text(doc))
}

// sectionOf returns the section of a document that is called like a command, or nil.
func sectionOf(doc *comment.Doc, name string) []comment.Block {
	var section []comment.Block
	for _, block := range doc.Content {
		if heading, ok := block.(*comment.Heading); ok {
			if section != nil {
				return section
			}
			if title, ok := heading.Text[0].(comment.Plain); !ok || !strings.EqualFold(string(title), name) {
				continue
			}
		} else if section == nil {
			continue
		}
		section = append(section, block)
	}
	return section
}
