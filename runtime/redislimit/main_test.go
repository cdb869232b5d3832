package redislimit_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// checks is how many checks package rapid makes here, unless -rapid.checks or RAPID_CHECKS says otherwise, instead of 100:
// the conformance suite runs against a server in nine ways, so that one of them need not be long. make soak is.
const checks = "20"

// S13: whatever the servers of these tests do, no goroutine is left.
func TestMain(m *testing.M) {
	if os.Getenv("RAPID_CHECKS") == "" {
		if err := flag.Set("rapid.checks", checks); err != nil { // what the command line says comes later
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
