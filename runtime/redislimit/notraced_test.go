//go:build !race

package redislimit_test

const raced = false
