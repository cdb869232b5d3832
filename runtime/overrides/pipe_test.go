//go:build unix

package overrides_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/runtime/overrides"
)

func TestPipeKeepsAProgramFromStarting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.yaml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, filepath.Dir(path)} {
		_, err := overrides.File(path).Load(t.Context())
		if want := path + ": want a regular file"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
