// Package book has the type arguments.
package book

type Book struct{ ISBN string }

type Filter struct{ Author string }
