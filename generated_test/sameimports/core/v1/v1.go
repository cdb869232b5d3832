// Package v1 has the name of its neighbours.
package v1

type Object struct{ Core string }
