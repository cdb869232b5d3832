// Package packagenames needs packages that cannot be imported under their own names, or are not called like their folders.
package packagenames

import (
	appsv1 "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/appsv1"
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/clerk"
)

//ratelimit:count=2 time=1h
type Office interface {
	clerk.Clerk
	Deploy(d appsv1.Deployment) (appsv1.Deployment, error)
}
