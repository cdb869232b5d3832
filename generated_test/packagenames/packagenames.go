// Package packagenames needs packages that cannot be imported under their own names, or are not called like their folders.
package packagenames

import (
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/api/v3"
	appsv1 "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/appsv1"
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/clerk"
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/go-widget"
	doc "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/yaml.v3"
)

//ratelimit:count=2 time=1h
type Office interface {
	clerk.Clerk
	Deploy(d appsv1.Deployment) (appsv1.Deployment, error)
	Draw(widget.Widget, doc.Node, api.Ref) (api.Ref, doc.Node, widget.Widget, error)
}
