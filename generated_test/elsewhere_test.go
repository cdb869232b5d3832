package generated_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// TestElsewhere generates the decorators of the corpus for another package, which is not there. Those that it cannot
// have are to be reported, and the others to compile.
func TestElsewhere(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || name == intoDir || name == "testdata" || name == "fail" || nested(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := generateElsewhere(t, parse.Config{Into: filepath.Join(name, "elsewhere", name)}, "./"+name)
			for f := range sources {
				verify(t, f.Target(), sources)
				break
			}
		})
	}
}

// generateElsewhere generates what it can for another package.
func generateElsewhere(t *testing.T, cfg parse.Config, pattern string) map[*parse.File][]byte {
	t.Helper()
	sources := map[*parse.File][]byte{}
	for _, pkg := range load(t, cfg, pattern) {
		for _, f := range pkg.Files {
			source, err := generate.File(f)
			var mistakes parse.Diagnostics
			if errors.As(err, &mistakes) {
				for _, mistake := range mistakes {
					if !strings.Contains(mistake.Message, "or no -into") {
						t.Error(mistake)
					}
				}
				continue
			}
			sources[f] = source
		}
	}
	return sources
}
