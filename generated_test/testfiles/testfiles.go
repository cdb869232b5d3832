// Package testfiles has limited interfaces in its tests only.
package testfiles

type Thing struct{ N int }
