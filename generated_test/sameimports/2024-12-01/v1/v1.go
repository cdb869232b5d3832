// Package v1 is below a folder whose name is no identifier.
package v1

type Object struct{ Dated string }
