package projecttest

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/ratelimitgen/ratelimitgen"

// dependencies returns what a package and its imports are made of, without the standard library.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+"/"+pkg)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return strings.Fields(string(out))
}

// A user of generated code downloads nothing for these packages, and another Store or adapter can be built on them.
func TestCoreNeedsOnlyTheStandardLibrary(t *testing.T) {
	for _, pkg := range []string{"annotations", "lua", "runtime", "runtime/memlimit", "runtime/httplimit"} {
		for _, dep := range dependencies(t, pkg) {
			if dep != module && !strings.HasPrefix(dep, module+"/") {
				t.Errorf("%s depends on %s: want the standard library and this module only", pkg, dep)
			}
		}
	}
}

// The halves meet in the generated file and nowhere else.
func TestGeneratorAndRuntimeDoNotImportEachOther(t *testing.T) {
	tests := []struct{ pkg, avoids string }{
		{"cmd/ratelimitgen", "runtime"},
		{"cmd/ratelimitgen", "lua"},
		{"vet", "runtime"},
		{"runtime", "annotations"},
		{"runtime", "internal"},
		{"runtime/memlimit", "lua"},
		{"runtime/redislimit", "annotations"},
		{"runtime/redislimit", "internal"},
		{"runtime/overrides", "annotations"},
		{"runtime/overrides", "internal"},
		{"runtime/httplimit", "annotations"},
		{"runtime/httplimit", "internal"},
	}
	for _, tt := range tests {
		for _, dep := range dependencies(t, tt.pkg) {
			if dep == module+"/"+tt.avoids || strings.HasPrefix(dep, module+"/"+tt.avoids+"/") {
				t.Errorf("%s depends on %s", tt.pkg, dep)
			}
		}
	}
}
