//go:build !unix

package redistest

// Freeze skips the test: only Unix can stop a process as it is.
func (i *Instance) Freeze() { i.t.Skip("skipped, needs SIGSTOP") }

// Thaw undoes Freeze.
func (i *Instance) Thaw() {}
