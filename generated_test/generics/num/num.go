// Package num has a constraint that names a third package.
package num

import "time"

type Real interface {
	~int | ~float64 | time.Duration
}
