// Package widget is in a folder with a hyphen.
package widget

type Widget struct{ Name string }
