// Package buildtags has a limited interface in a file with a build constraint, another under a file name that is one, and
// types that differ between systems.
package buildtags
