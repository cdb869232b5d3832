// Package users has interfaces whose decorators go into another package, which must name all that it mentions.
package users

import (
	"context"
	"errors"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/generated_test/into/num"
	"github.com/ratelimitgen/ratelimitgen/generated_test/into/users/internal/core"
	"github.com/ratelimitgen/ratelimitgen/generated_test/private/api"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Plan may be named wherever this package may be, what it is an alias of may not.
type Plan = core.Plan

// plan is another name for Plan, and need not be mentioned.
type plan = Plan

type User struct {
	ID, Tenant string
	Plan       *Plan
}

const Size = 1 << 1

// half is no name for others: what is made of it has a number there.
const half = Size / 2

var ErrNotFound = errors.New("not found")

func TenantOf(ctx context.Context) string {
	tenant, _ := ctx.Value(num.Key{}).(string)
	return strings.ToLower(tenant)
}

// Service has parameters that are called like packages, those of the decorators included.
//
//ratelimit:count=2 time=1h
type Service interface {
	//ratelimit:key=tenant:{TenantOf(ctx)}:{u.Plan.Name} count=1 time=1h
	Get(ctx context.Context, u *User) (*User, error)
	Put(ctx context.Context, users [Size]User, limited [half]plan) (_ User, err error)
	//ratelimit:count=1 time=1h refund={errors.Is(err, ErrNotFound)} skip={len(users) > Size}
	Find(ctx context.Context, users ...User) (found map[string]*User, err error)
	// Count and Sum cannot refuse: a function and a method stand in for them.
	//
	//ratelimit:count=1 time=1h fallback=None
	Count(ctx context.Context, users ...User) int
	//ratelimit:count=1 time=1h fallback=Count
	Sum(ctx context.Context, users ...User) int
	//ratelimit:skip
	Close()
}

// None is what Count returns when it is over its limit.
func None(_ context.Context, _ []User, refusal *ratelimit.LimitError) int {
	if refusal == nil {
		return 0
	}
	return -1
}

// Repo has constraints of a third package.
//
//ratelimit:count=1 time=1h
type Repo[K comparable, N num.Real] interface {
	Sum(context.Context, K) (N, error)
}

// Counts is another name for an instance.
//
//ratelimit:count=1 time=1h
type Counts = Repo[User, num.Meters]

// Server has a method that is private to a third package.
//
//ratelimit:count=1 time=1h methods=Check
type Server interface {
	api.Server
}
