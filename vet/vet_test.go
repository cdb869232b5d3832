package vet_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/txtar"

	"github.com/ratelimitgen/ratelimitgen/vet"
)

// The golden file is what the source is with every fix applied.
func TestFixes(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, filepath.Join(analysistest.TestData(), "fixes"), vet.Analyzer, "./...")
}

// Lines on methods hold in packages that embed their interface, which the analyzer knows by facts.
func TestInheritedLines(t *testing.T) {
	analysistest.Run(t, filepath.Join(analysistest.TestData(), "inherit"), vet.Analyzer, "./...")
}

// What gofmt would not leave as it is.
func TestFixesOfOddLines(t *testing.T) {
	archive := txtar.Parse([]byte(oddLines))
	dir := t.TempDir()
	extract(t, archive, dir)
	analysistest.RunWithSuggestedFixes(t, dir, vet.Analyzer, "./...")
}

const oddLines = `
-- users.go --
package users

type Users interface {
	// want +1 "is not read as a directive"
	/* ratelimit:count=5 time=1m */   Get() error
}

// want +1 "is not read as a directive"
type Orders interface { /*ratelimit:count=5*/ Get() error } // between code, where no line can end

type Pages interface {
	// want +1 "is not read as a directive"
	Get() error // ratelimit:count=5
}
-- users.go.golden --
package users

type Users interface {
	// want +1 "is not read as a directive"
	//ratelimit:count=5 time=1m
	Get() error
}

// want +1 "is not read as a directive"
type Orders interface { /*ratelimit:count=5*/
	Get() error
} // between code, where no line can end

type Pages interface {
	// want +1 "is not read as a directive"
	Get() error // ratelimit:count=5
}
`
