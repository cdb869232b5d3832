package projecttest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testLink = regexp.MustCompile(`\[((?:Test|Fuzz|Example)\w+)\]\(([^)]+_test\.go)\)`)

// Each promise in SECURITY.md, a row of a table, names tests that hold it, and these exist.
func TestPromisesNameTheirTests(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	promises := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise |") {
			continue
		}
		promises++
		links := testLink.FindAllStringSubmatch(line, -1)
		if len(links) == 0 {
			t.Errorf("no test holds the promise: %s", line)
		}
		for _, link := range links {
			name, path := link[1], link[2]
			source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
			if err != nil {
				t.Error(err)
			}
			if !strings.Contains(string(source), "\nfunc "+name+"(") {
				t.Errorf("%s has no %s", path, name)
			}
		}
	}
	if promises == 0 {
		t.Error("SECURITY.md promises nothing")
	}
}
