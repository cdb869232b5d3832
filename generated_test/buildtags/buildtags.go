// Package buildtags has a limited interface in a file with a build constraint, and another under a file name that is one.
package buildtags

type Handle int
