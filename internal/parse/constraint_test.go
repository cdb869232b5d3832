package parse

import (
	"go/build/constraint"
	"testing"
)

func TestNameConstraint(t *testing.T) {
	tests := []struct{ name, want string }{
		{"cache.go", ""},
		{"cache_linux.go", "linux"},
		{"cache_amd64.go", "amd64"},
		{"cache_linux_amd64.go", "linux && amd64"},
		{"cache_linux_test.go", "linux"},
		{"cache_linux_arm64_test.go", "linux && arm64"},
		{"cache_amd64_linux.go", "linux"}, // only the last word counts in this order
		{"cache_linux_x.go", ""},
		{"linux.go", ""}, // never a constraint as the first word
		{"linux_test.go", ""},
		{"_windows.go", "windows"},
		{"cache_unix.go", ""}, // a tag, but not in names
		{"cache_test.go", ""},
		{"cache_linux.pb.go", "linux"}, // what follows the first dot is no part of the name
	}
	for _, tt := range tests {
		got := ""
		if expr := nameConstraint("/home/a_windows/" + tt.name); expr != nil {
			got = expr.String()
		}
		if got != tt.want {
			t.Errorf("nameConstraint(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A constraint that is said twice is written once, and one that says more is all that is written.
func TestAndSaysNothingTwice(t *testing.T) {
	tests := []struct{ x, y, want string }{
		{"linux", "cgo", "linux && cgo"},
		{"cgo", "cgo", "cgo"},
		{"cgo && !never", "cgo", "cgo && !never"},
		{"linux", "linux && amd64", "linux && amd64"},
		{"cgo || never", "cgo", "(cgo || never) && cgo"},
		{"!cgo", "cgo", "!cgo && cgo"},
	}
	for _, tt := range tests {
		x, errX := constraint.Parse("//go:build " + tt.x)
		y, errY := constraint.Parse("//go:build " + tt.y)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		if got := and(x, y).String(); got != tt.want {
			t.Errorf("%s and %s: %s, want %s", tt.x, tt.y, got, tt.want)
		}
	}
}
