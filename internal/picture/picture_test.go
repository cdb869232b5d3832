package picture

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"testing/synctest"
)

var update = flag.Bool("update", false, "write docs/algorithms.svg")

// The picture in the docs is what the algorithms do.
func TestPicture(t *testing.T) {
	const file = "../../docs/algorithms.svg"
	var drawn []byte
	synctest.Test(t, func(t *testing.T) {
		var err error
		if drawn, err = Draw(); err != nil {
			t.Fatal(err)
		}
	})
	if *update {
		if err := os.WriteFile(file, drawn, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(drawn, want) {
		t.Errorf("%s is not what is drawn now: see what changed by go test ./internal/picture -update and git diff", file)
	}
}
