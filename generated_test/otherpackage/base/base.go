// Package base has lines that hold where its interfaces are embedded.
package base

import (
	"context"
	"strings"
)

type Request struct {
	Tenant string
	Meta
}

type Meta struct{ Region *Region }

type Region struct{ Name string }

func (r *Region) String() string { return r.Name }

func TenantOf(ctx context.Context) string {
	tenant, _ := ctx.Value(Key{}).(string)
	return strings.ToLower(tenant)
}

type Key struct{}

type Reader interface {
	//ratelimit:key=read:{TenantOf(ctx)}:{strings.ToUpper(req.Tenant)}:{req.Region} count=1 time=1h
	Read(ctx context.Context, req *Request) error
}
