// Package ratelimit is a package of the user's with the name of ours.
package ratelimit

type Limiter struct{ N int }

type Result struct{ OK bool }
