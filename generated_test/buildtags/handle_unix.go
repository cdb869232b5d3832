//go:build unix

package buildtags

type Handle int

// DefaultHandle is declared once for each system.
func DefaultHandle() Handle { return 3 }
