// Package nilpaths has expressions with pointers, interfaces, indexes and divisors on their paths.
package nilpaths

import (
	"context"
	"encoding"
	"fmt"
	"net/url"
)

type Request struct {
	*Origin
	fmt.Stringer
	User  *User
	Link  **url.URL
	Parts []string
	Names map[string]*User
	Pair  *[2]string
	Sign  func() string
	Page  int
	Size  int
}

type Origin struct{ Region, Host string }

func (o Origin) Place() string { return o.Region + "/" + o.Host }

type User struct {
	ID    string
	Admin bool
	Quota int
	boss  *User
}

// Ticket has the text of what it embeds.
type Ticket struct{ *Number }

type Number struct{ N string }

func (n *Number) String() string { return n.N }

type Page struct {
	*url.URL
	Size int
}

type Named struct{ fmt.Stringer }

// Marshaled has its text through two of them.
type Marshaled struct{ *Inner }

type Inner struct{ encoding.TextMarshaler }

// Boss would panic.
func (u *User) Boss() *User { return u.boss }

func (u *User) IsAdmin() bool { return u.Admin }

func find(ctx context.Context) *User {
	user, _ := ctx.Value(userKey{}).(*User)
	return user
}

type userKey struct{}

type Service interface {
	//ratelimit:key={req.User.ID} count=1 time=1h
	Field(req *Request) error
	//ratelimit:key={req.Region}:{req.Host} count=1 time=1h
	Promoted(req *Request) error
	//ratelimit:key={req.Place()}:{req.String()} count=1 time=1h onempty=share
	Embedded(req Request) error
	//ratelimit:key={req.User.Boss().Boss().ID}:{find(ctx).ID} count=1 time=1h
	Calls(ctx context.Context, req *Request) error
	//ratelimit:key={req.Parts[0]}:{req.Parts[n]}:{req.Names["x"].ID}:{req.Pair[1]} count=1 time=1h
	Indexes(req *Request, n uint8) error
	//ratelimit:key={req.Parts[from:to][0]}:{id[:2]}:{id[from:]} count=1 time=1h
	Slices(req *Request, id string, from, to int) error
	// Flags need variables in several expressions, which must not be called the same.
	//
	//ratelimit:key=flags:{word(req.User.IsAdmin() || find(ctx).IsAdmin())}:{word(find(ctx).IsAdmin() || req.User.IsAdmin())} cost={size(find(ctx).IsAdmin() || req.User.IsAdmin())} skip={word(find(ctx).Admin || req.User.Admin) == "x"} refund={word(find(ctx).Admin || req.User.Admin) == "x" || word(req.User.Boss().Admin || find(ctx).Admin) == "y"} count=3 time=1h
	Flags(ctx context.Context, req *Request) error
	// Bounds are asked for once each, whatever asks for them.
	//
	//ratelimit:key={id[1:n]}:{id[n:4]}:{id[u:n]}:{id[u:200]}:{id[0]+id[2]} skip={len(id) > 0 && id[3] == 'x'} count=1 time=1h
	Bounds(id string, n int, u int8) error
	//ratelimit:key={req.Page / req.Size}:{1 << req.Page}:{[2]byte(data)[0]} count=1 time=1h
	Operators(req *Request, data []byte) error
	//ratelimit:key={(*req.Link).Host}:{req.Sign()} count=1 time=1h
	Pointers(req *Request) error
	//ratelimit:key={addr}:{who}:{*name} count=1 time=1h
	Values(addr *url.URL, who fmt.Stringer, name *string) error
	// Texts are those of embedded fields.
	//
	//ratelimit:key=texts:{ticket}:{page}:{named}:{marshaled} count=1 time=1h
	Texts(ticket Ticket, page *Page, named Named, marshaled Marshaled) error

	// Cost is that of a call without a cost where there is none to read.
	//
	//ratelimit:count=10 time=1h cost={req.User.Quota}
	Cost(req *Request) error
	// Logic skips admins, and whoever is called ann.
	//
	//ratelimit:count=1 time=1h skip={req.User.Admin || req.Names["ann"] != nil && !req.User.IsAdmin()}
	Logic(req *Request) error
	// Asked has conditions of its own, which are not asked twice.
	//
	//ratelimit:count=1 time=1h skip={req == nil || req.User != nil && (len(req.Parts) > 1 && req.Parts[1] == "x" || req.User.Admin)}
	Asked(req *Request) error
	// Deep has conditions that need variables.
	//
	//ratelimit:count=1 time=1h skip={!(find(ctx).Boss().Admin || req.Names["x"].Admin) && req.User.Admin}
	Deep(ctx context.Context, req *Request) error
	//ratelimit:count=1 time=1h refund={user.Boss().Admin}
	//ratelimit:count=2 time=1h name=two refund={err != nil || user.Admin && ret0.Boss().ID == "x"}
	Refund(ctx context.Context) (user *User, err error)
}

// Pointers has type parameters that are pointers.
type Pointers[T any, P interface {
	*T
	fmt.Stringer
}] interface {
	//ratelimit:key=parameter:{p}:{q.String()} count=1 time=1h
	Get(p, q P) error
}

func word(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func size(yes bool) int { return len(word(yes)) }
