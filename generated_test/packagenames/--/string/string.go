// Package string has the name of a type, in a folder whose name has no letters.
package string

type Text struct{ Name [4]byte }
