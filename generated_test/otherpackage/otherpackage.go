// Package otherpackage has expressions over what other packages declare, and defaults that hold for their methods.
package otherpackage

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"

	store "github.com/ratelimitgen/ratelimitgen/generated_test/otherpackage/base"
)

var errNone = errors.New("none")

func tenant(ctx context.Context) string { return store.TenantOf(ctx) }

type Reader interface {
	store.Reader
	//ratelimit:key={store.TenantOf(ctx)}:{req.Region.Name} count=1 time=1h
	List(ctx context.Context, req *store.Request) error
}

// Files limits methods that it does not own.
//
//ratelimit:key=open:{name} count=1 time=1h methods=Open,ReadFile
//ratelimit:key=default:{len($0)} count=1 time=1d methods=Open,ReadFile
type Files interface {
	fs.ReadFileFS
}

type Pipe interface {
	//ratelimit:key=pipe:{len(p)} count=1 time=1h refund={n == 0 && errors.Is(err, io.EOF)} methods=Read
	io.ReadWriter
}

type Rows interface {
	//ratelimit:key={tenant(ctx)}:{opts.ReadOnly} count=1 time=1h methods=Begin* refund={ret0 == nil || errors.Is(err, sql.ErrConnDone)}
	Beginner
	Close() error
}

type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
	BeginNow(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
	Done()
}
