// Package base imports two packages of one name, under names that the embedding package does not know.
package base

import (
	dated "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/2024-12-01/v1"
	core "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/core/v1"
)

type Getter interface {
	Get(id string) (core.Object, dated.Object, error)
}
