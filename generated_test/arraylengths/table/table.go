// Package table has an array whose length only its own names spell.
package table

import "strconv"

// Width is that of the platform.
const Width = strconv.IntSize

const rows = 3

type Table interface {
	//ratelimit:count=2 time=1h
	Cells(cells [Width / 8][rows]byte) ([rows]string, error)
}
