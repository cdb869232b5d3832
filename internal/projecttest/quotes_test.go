package projecttest

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// The Go code in the README of a module is that of its tests, mostly of an example: it compiles, and does what it says. That
// of the pages in docs is compiled there, and that of the README by [TestREADME].
func TestREADMEsOfModulesQuoteTheirTests(t *testing.T) {
	quotes := 0
	for _, pattern := range []string{"../../runtime/*/README.md", "../../runtime/contrib/*/README.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			for i, block := range goBlock.FindAllStringSubmatch(readText(t, page), -1) {
				quotes++
				if !isQuoted(t, filepath.Dir(page), unindented(block[1])) {
					t.Errorf("%s, block %d of Go is in no file beside it, so that nothing compiles it:\n%s", page, i+1, block[1])
				}
			}
		}
	}
	if quotes < 10 {
		t.Errorf("%d blocks of Go: want more to look at", quotes)
	}
}

// isQuoted reports whether some lines are those of a Go file in a folder or below it.
func isQuoted(t *testing.T, dir, lines string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" && strings.Contains(unindented(readText(t, path)), lines) {
			found = true
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unindented returns the lines of a text that are not blank, without what surrounds them.
func unindented(text string) string {
	lines := []string{""}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(append(lines, ""), "\n")
}
