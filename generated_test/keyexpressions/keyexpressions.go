// Package keyexpressions has keys with Go expressions of every kind and type that a hole may have.
package keyexpressions

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"
)

type UserID string

// Secret hides its text, but not from the limits: they would take all secrets for one.
type Secret string

func (Secret) String() string { return "***" }

type Level int

func (Level) String() string { return "high" }

type (
	ID     = string
	Number = Level
	Link   = *Point
)

type Point struct{ X, Y int }

func (p Point) String() string { return strings.Repeat("x", p.X) + strings.Repeat("y", p.Y) }

type Request struct {
	Tenant string
	Tags   []string
	Limits map[string]uint8
	Grid   [2][2]int
}

func (r Request) Region() string { return strings.ToLower(r.Tenant) }

func (r Request) Tag(i int) string { return r.Tags[i] }

const version = 2

var zone = "eu"

var zones = map[string]string{"{a}": "1", "(a)": "2"}

func tenantOf(ctx context.Context) string { return ctx.Value(tenantKey{}).(string) }

var evaluations int

func counted(id string) string {
	evaluations++
	return id
}

func first[T any](values []T, _ ...T) T { return values[0] }

type tenantKey struct{}

type Keys interface {
	//ratelimit:key={id}:{secret}:{level}:{token}:{ok} count=1 time=1h
	Kinds(id UserID, secret Secret, level Level, token []byte, ok bool) error
	//ratelimit:key={a}:{b}:{c}:{d} count=1 time=1h
	Integers(a int8, b uint64, c rune, d uintptr) error
	//ratelimit:key={ip}:{addr}:{p}:{at} count=1 time=1h
	Texts(ip net.IP, addr netip.Addr, p Point, at time.Time) error
	//ratelimit:key={$0}:{$1}:{*$2} count=1 time=1h
	Unnamed(string, bool, *int) error
	//ratelimit:key={$0}:{$1}:{n} count=1 time=1h
	Blank(_ string, _ int, n int) error
	//ratelimit:key={req.Tenant}:{req.Region()}:{req.Grid[1][0]}:{req.Limits["x"]}:{UserID(req.Tenant[:1])} count=1 time=1h
	Paths(req Request) error
	//ratelimit:key={tenantOf(ctx)}:{zone}:{version}:{'x'}:{"a}" + zone}:{len(ids)}:{first(ids)}:{first[string](ids, "b")} count=1 time=1h
	Package(ctx context.Context, ids ...string) error
	//ratelimit:key="{strings.TrimSpace(id)}: {n%10 == 3}:{-n}:{min(n, 5)}:{uint8(n)<<1}:{[]byte(id)}:{Level(n)}" count=1 time=1h
	Operators(id string, n int) error
	//ratelimit:key={id}:{n}:{link}:{link.X} count=1 time=1h
	Aliases(id ID, n Number, link Link) error
	// Once evaluates one expression, however often it is written.
	//
	//ratelimit:key={counted(id)}:{counted(id)} count=1 time=1h
	//ratelimit:key=other:{counted( id )} count=2 time=1d
	Once(id string) error
	//ratelimit:key={zones["{a}"]}:{zones["(a)"]} count=1 time=1h
	Braces() error
	//ratelimit:key={ id }:{id}:{id+""}:{id + ""} count=1 time=1h name=twice
	//ratelimit:key=other:{id} count=3 time=1h
	Twice(id string) error
}
