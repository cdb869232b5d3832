package vet

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

// suggest adds the edit of a mistake in a directive to its diagnostic, if there is one.
func (r *reporter) suggest(d *analysis.Diagnostic) {
	comment := r.commentAt(d.Pos)
	if comment == nil {
		return
	}
	_, err := annotations.Parse(comment.Text)
	var mistakes annotations.Errors
	if !errors.As(err, &mistakes) {
		return
	}
	for _, mistake := range mistakes {
		if mistake.Edit == nil || mistake.Message != d.Message || comment.Slash+token.Pos(mistake.Offset) != d.Pos {
			continue
		}
		edit := analysis.TextEdit{
			Pos:     comment.Slash + token.Pos(mistake.Edit.Start),
			End:     comment.Slash + token.Pos(mistake.Edit.End),
			NewText: []byte(mistake.Edit.Text),
		}
		if strings.HasPrefix(mistake.Edit.Text, "//") && !r.ownLine(comment, &edit) {
			return
		}
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   fmt.Sprintf("Write %q", mistake.Edit.Text),
			TextEdits: []analysis.TextEdit{edit},
		}}
		return
	}
}

// ownLine makes the edit of a near miss one that gives it a line of its own: code behind a comment between /* and */
// moves to the next line. It reports whether that can be: not if there is code before it, behind which no directive is
// read.
func (r *reporter) ownLine(comment *ast.Comment, edit *analysis.TextEdit) bool {
	file := r.pass.Fset.File(comment.Slash)
	src, err := r.readFile(file.Name())
	start, end := file.Offset(edit.Pos), file.Offset(edit.End)
	if err != nil || end > len(src) {
		return false
	}
	before := src[bytes.LastIndexByte(src[:start], '\n')+1 : start]
	behind, _, _ := bytes.Cut(src[end:], []byte("\n"))
	if len(bytes.TrimSpace(before)) > 0 {
		return false
	}
	if code := bytes.TrimLeft(behind, " \t\r"); len(code) > 0 {
		edit.End += token.Pos(len(behind) - len(code))
		edit.NewText = fmt.Appendf(edit.NewText, "\n%s", before)
	}
	return true
}
