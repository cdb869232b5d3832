package annotations

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"iter"
	"regexp"
	"strings"
)

// Expr is a Go expression that is known to be well-formed, and nothing more.
type Expr struct {
	// Text is the expression without the braces and the blanks beside them. Parameters by their position are $0, $1, ...
	Text string

	// Offset is where Text starts, in bytes after the comment's first slash.
	Offset int

	offsets []int // of each byte of Text and of its end, where escapes have moved them; nil elsewhere
}

// At returns where Text[i] is, in bytes after the comment's first slash. It may be the end of Text.
func (e *Expr) At(i int) int {
	if e.offsets != nil {
		return e.offsets[i]
	}
	return e.Offset + i
}

// Syntax returns the expression as a tree, in a file of fset that holds Text and nothing else. A parameter such as $0 is
// an identifier of that name.
func (e *Expr) Syntax(fset *token.FileSet) ast.Expr {
	node, err := parser.ParseExprFrom(fset, "", plainGo(e.Text), parser.SkipObjectResolution)
	if err != nil {
		return &ast.BadExpr{} // made by hand: Parse returns none that is malformed
	}
	file := fset.File(node.Pos())
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			n.Name = e.Text[file.Offset(n.Pos()):file.Offset(n.End())]
		case *ast.BasicLit: // $0 in a string is not a parameter
			n.Value = e.Text[file.Offset(n.Pos()):file.Offset(n.End())]
		}
		return true
	})
	return node
}

// Expressions returns the expressions of the annotation in no particular order.
func (a *Annotation) Expressions() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) {
		all := []*Expr{a.CostExpr, a.Skip, a.Refund}
		if a.Key != nil {
			for _, part := range a.Key.Parts {
				all = append(all, part.Expr)
			}
		}
		for _, expr := range all {
			if expr != nil && !yield(expr) {
				return
			}
		}
	}
}

// parseExpr reads the Go expression v.text[start:end], which stands in braces. It is nil when there are mistakes.
func parseExpr(v value, start, end int) (*Expr, Errors) {
	inside := v.text[start:end]
	text := strings.TrimLeft(inside, " ")
	start += len(inside) - len(text)
	text = strings.TrimRight(text, " ")
	if text == "" {
		return nil, Errors{v.errorAt(start, "{} is empty: want an expression")}
	}
	if offset, message := syntaxError(text); message != "" {
		return nil, Errors{v.errorAt(start+offset, "{%s}: %s", text, message)}
	}
	expr := &Expr{Text: text, Offset: v.at(start)}
	if v.offsets != nil {
		expr.offsets = v.offsets[start : start+len(text)+1]
	}
	return expr, nil
}

// unnamed is an unnamed parameter, $0 or $1, that is not part of a longer word.
var unnamed = regexp.MustCompile(`(^|[^\pL\pN_])\$((?:0|[1-9][0-9]*)\b)`)

// plainGo returns an expression with an identifier of the same length in place of $0, which keeps the columns right. Any
// other $ is for the parser to refuse.
func plainGo(expr string) string { return unnamed.ReplaceAllString(expr, "${1}_${2}") }

// syntaxError returns the first mistake in a Go expression and its offset, or an empty message.
func syntaxError(expr string) (offset int, message string) {
	_, err := parser.ParseExpr(plainGo(expr))
	if mistakes := scanner.ErrorList(nil); errors.As(err, &mistakes) {
		// The others follow from the first.
		first := mistakes[0]
		message := strings.NewReplacer("'EOF'", "}", "newline", "}").Replace(first.Msg)
		return min(first.Pos.Offset, len(expr)), message
	}
	if i := commentIndex(expr); i >= 0 {
		// In generated code it could hide what follows.
		return i, "want no comment"
	}
	return 0, ""
}

// commentIndex returns where the first comment in a Go expression starts, or -1.
func commentIndex(expr string) int {
	file := token.NewFileSet().AddFile("", -1, len(expr))
	var s scanner.Scanner
	s.Init(file, []byte(expr), nil, scanner.ScanComments)
	for {
		switch pos, tok, _ := s.Scan(); tok {
		case token.COMMENT:
			return file.Offset(pos)
		case token.EOF:
			return -1
		}
	}
}
