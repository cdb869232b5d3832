package redislimit_test

import (
	"testing"

	"go.uber.org/goleak"
)

// S13: whatever the servers of these tests do, no goroutine is left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
