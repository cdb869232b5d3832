// Package core is internal to users.
package core

type Plan struct{ Name string }
