// Package value is imported under the names of variables.
package value

type Value struct{ D int }
