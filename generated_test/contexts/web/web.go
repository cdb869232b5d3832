// Package web has a type that is called Context and is none.
package web

type Context struct{ Path string }
