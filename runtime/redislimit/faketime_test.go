package redislimit_test

import (
	"testing"
	"testing/synctest"
)

// fakeTime runs a test in a bubble of package synctest. Under the race detector it skips it: timers that call functions
// there, as those of many calls do, make the detector crash, see https://github.com/golang/go/issues/78156. Tests with real
// servers are what it sees.
func fakeTime(t *testing.T, test func(*testing.T)) {
	t.Helper()
	if raced {
		t.Skip("fake time and the race detector: golang/go#78156")
	}
	synctest.Test(t, test)
}
