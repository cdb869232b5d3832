// Package expressionnames has expressions that mention what decorators would call their own variables and imports, and
// parameters that are called like what the code of expressions needs.
package expressionnames

import (
	"context"

	str "strings"
)

type Request struct {
	User *User
	Tags []string
	N    int32
}

type User struct{ ID, userID string }

func call(id string) string { return id }

func session(id string) *User { return &User{ID: id} }

func cost(n int) int { return n }

var s, err, skip, user, c = "s", "err", true, "user", "c"

var lower = str.ToLower

type Session struct{ OK bool }

type Chat interface {
	//ratelimit:key={ratelimit}:{call}:{string.User.ID}:{$3.Tags[n]} count=1 time=1h
	Parameters(ratelimit, call string, string *Request, len *Request, n uint32, byte []byte, uint64 bool) error
	//ratelimit:key={call(id)}:{session(id).ID}:{s}:{err}:{c}:{user} count=1 time=1h skip={skip && req.Tags[0] == err} cost={cost(1)}
	Functions(id string, req *Request) error
	//ratelimit:key={str.ToLower(strings)}:{$1} count=1 time=1h
	Imports(strings, context string) error
	//ratelimit:key={call(err)}:{userID.User.ID} count=1 time=1h refund={$0 == "x" || ret0.OK || session == nil || ret1 != nil}
	Results(err string, userID *Request) (session *Session, _ error)
	//ratelimit:key={a.User.ID}:{b.User.ID} count=1 time=1h refund={e == nil}
	SameNames(a, b *Request) (ret1 *User, e error)
	//ratelimit:key={userID} count=1 time=1h refund={err == nil && ret0.userID == "" && ret1.ID == ""}
	Unnamed(_ context.Context, userID string, call, result int) (*User, *User, error)
	//ratelimit:key={n} count=1 time=1h refund={int64 && true == bool}
	Predeclared(n uint16, int64, true, false, bool bool, nil *User) (error error)
}
