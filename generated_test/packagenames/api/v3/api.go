// Package api is in a folder for its major version.
package api

type Ref struct{ Name string }
