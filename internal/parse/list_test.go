package parse

import "testing"

// A machine without the go command got an error without words.
func TestNoGoCommand(t *testing.T) {
	cfg := Config{Dir: t.TempDir()}
	t.Setenv("PATH", t.TempDir())
	_, err := List(cfg)
	const want = `go command required, not found: exec: "go": executable file not found in $PATH`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
