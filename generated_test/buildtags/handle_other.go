//go:build !unix

package buildtags

type Handle uintptr

// DefaultHandle is declared once for each system.
func DefaultHandle() Handle { return 3 }
