// Package limited gets the decorators of other packages, and has names that these would like to use.
package limited

import ratelimit "errors"

type (
	context struct{}
	users   []context
	num     int
)

var time = ratelimit.New("no time")

func (n num) http() (users, error) { return make(users, n), time }
