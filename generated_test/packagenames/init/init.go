// Package init has a name that no import can have.
package init

type State struct{ Name string }
