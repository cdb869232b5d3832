package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Only what the go command asks of its vet tool is for that, and no package or flag that looks a little like it.
func TestIsVetTool(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vet.cfg")
	for _, tt := range []struct {
		args string
		want bool
	}{
		{"-V=full", true},
		{"-flags", true},
		{"FILE", true},
		{"-json -fix FILE", true},
		{"", false},
		{"version", false},
		{"generate -flags", false},
		{"generate FILE", false},
		{"-tags vet.cfg", false},
		{"./vet.cfg", false},
		{"-into x.cfg", false},
		{"FILE ./...", false},
	} {
		args := strings.Fields(strings.ReplaceAll(tt.args, "FILE", file))
		if got := isVetTool(args); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.args, got, tt.want)
		}
	}
}
