// Package clerk imports packages of unusual names under usual ones.
package clerk

import (
	text "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/--/string"
	state "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/init"
)

type Clerk interface {
	File(s state.State, t *text.Text) (state.State, error)
}
