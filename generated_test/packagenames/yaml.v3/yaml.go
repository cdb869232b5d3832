// Package yaml is in a folder with a dot.
package yaml

type Node struct{ Name string }
