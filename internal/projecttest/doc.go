// Package projecttest tests what is true of the repository as a whole: which packages may import which, that the
// generator and the runtime agree on what a valid limit is, that the README's commands work as written, and that promises
// name their tests.
package projecttest
