// Package table is imported with a dot.
package table

type Table string

type Row map[string]any
