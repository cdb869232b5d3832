package app // want package:`directives on .*`

import (
	"context"

	"example.com/inherit/again"
	"example.com/inherit/base"
)

// Users has a default that only Delete needs: Close could not be refused, and Get has a line already.
//
//ratelimit:count=5
type Users interface {
	again.Store
	Delete() error
}

//ratelimit:count=5
type Hidden interface {
	base.Hidden
	Delete() error
}

// Stopped has what another package is told about, and nothing more.
type Stopped interface{ base.Mistaken }

type Strings interface{ base.List[string] }

type First interface{ base.Secret } // want `key: {secret\(\)}: base\.secret is not exported, but the decorator of app\.First needs it: .* \(at \S*/base/base\.go:20:27\)`

type Second interface{ base.Secret } // want `key: {secret\(\)}: base\.secret is not exported, but the decorator of app\.Second needs it: .* \(at \S*/base/base\.go:20:27\)`

// Third has a line of its own.
type Third interface {
	base.Secret
	//ratelimit:count=5
	Secret() error
}

type Both interface {
	base.Store
	base.Other // want `Get: other limits at \S*/base/base\.go:26:2 than at \S*/base/base\.go:11:2: want the same ones, or a line on Get in Both itself`
}

// Refused has a line of its own, so that Close is no longer exempt.
type Refused interface {
	base.Store
	// want +1 `Close cannot be refused`
	//ratelimit:count=7
	Close()
}

var _ context.Context
