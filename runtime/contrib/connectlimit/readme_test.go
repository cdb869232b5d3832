package connectlimit_test

import (
	"os"
	"strings"
	"testing"
)

// The code in the README is that of the example, which runs.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for i, block := range strings.Split(string(readme), "\n```") {
		code, isGo := strings.CutPrefix(block, "go\n")
		if i%2 == 0 || !isGo {
			continue
		}
		blocks++
		found := false
		for _, indent := range []string{"", "\t", "\t\t"} {
			found = found || strings.Contains(string(example), indent+strings.ReplaceAll(code, "\n", "\n"+indent))
		}
		if !found {
			t.Errorf("example_test.go does not contain this:\n%s", code)
		}
	}
	if blocks == 0 {
		t.Error("the README has no code")
	}
}
