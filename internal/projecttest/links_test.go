package projecttest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	relativeLink = regexp.MustCompile(`\]\(([^):\s]*)\)`)
	codeBlock    = regexp.MustCompile("(?s)\n```.*?\n```")
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Links between the pages, and from them into the code, lead somewhere, and to headings that are there.
func TestLinks(t *testing.T) {
	const root = "../.."
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "runtime/*/README.md", "runtime/contrib/*/README.md", "vet/*.md", "example/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	links := 0
	for _, page := range pages {
		for _, link := range relativeLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(readText(t, page), ""), -1) {
			links++
			path, anchor, anchored := strings.Cut(link[1], "#")
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: a link to %s leads nowhere", page, link[1])
			} else if anchored && !hasAnchor(readText(t, to), anchor) {
				t.Errorf("%s: a link to %s: %s has no such heading", page, link[1], to)
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links on %d pages: want more to look at", links, len(pages))
	}
}

// hasAnchor reports whether a page has a heading that browsers find by an anchor, as GitHub makes them.
func hasAnchor(page, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		if strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
