// Package sameimports needs four packages of one name, two of which only an embedded interface imports.
package sameimports

import (
	appsv1 "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/apps/v1"
	"github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/base"
	batchv1 "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/batch/v1"
)

type Cluster interface {
	//ratelimit:count=2 time=1h
	base.Getter
	//ratelimit:count=2 time=1h
	Apply(d appsv1.Object, j batchv1.Object) (v1 string, err error)
}
