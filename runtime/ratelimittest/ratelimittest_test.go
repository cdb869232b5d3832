package ratelimittest_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

func TestModel(t *testing.T) { ratelimittest.Run(t, onModel) }

func TestModelSetBack(t *testing.T) { ratelimittest.RunSetBack(t, onModel) }

func onModel(t *testing.T, test ratelimittest.Test) {
	store := ratelimittest.NewModelStore()
	test(t, store, store.Advance)
}

// TestWithoutRenewal runs the suite on a Store that is no Renewer.
func TestWithoutRenewal(t *testing.T) {
	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
		store := ratelimittest.NewModelStore()
		test(t, struct{ ratelimit.Store }{store}, store.Advance)
	})
}

// TestFaultsAreFound runs the suite on each faulty Store, in a process of its own that must fail.
func TestFaultsAreFound(t *testing.T) {
	if name := os.Getenv("RATELIMITTEST_FAULT"); name != "" {
		ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
			store := ratelimittest.NewModelStore()
			test(t, faults[name](store), store.Advance)
		})
		return
	}
	for name := range faults {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestFaultsAreFound$", "-test.failfast", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
			cmd.Env = append(os.Environ(), "RATELIMITTEST_FAULT="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("--- FAIL: TestFaultsAreFound/")) {
				t.Errorf("the suite passes, or ends otherwise: %v\n%s", err, out)
			}
		})
	}
}
