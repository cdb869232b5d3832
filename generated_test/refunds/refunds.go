// Package refunds has limits that give units back after the call.
package refunds

import (
	"context"
	"errors"
	"net/http"
)

var ErrNotFound = errors.New("not found")

type Page struct {
	Cached bool
	Items  []string
}

type Login interface {
	// Login counts failures only.
	//
	//ratelimit:key=login:{name} count=2 time=1h refund={err == nil}
	Login(ctx context.Context, name string) error
	//ratelimit:count=2 time=1h refund={page.Cached || errors.Is(e, ErrNotFound)}
	Named(ctx context.Context) (page *Page, e error)
	//ratelimit:count=2 time=1h refund={ret0.Cached && ret1 == 0}
	Unnamed() (*Page, int, error)
	// Several has limits of which the same condition gives two back.
	//
	//ratelimit:count=1 time=1h refund={err == nil}
	//ratelimit:count=2 time=1d refund={ err==nil }
	//ratelimit:count=9 time=7d cost={n} refund={ret0 > n}
	Several(n int) (int, error)
	//ratelimit:count=1 time=1h refund={id == ""}
	Parameters(id string) error
	// Swapped has results that are called by each other's numbers.
	//
	//ratelimit:count=1 time=1h refund={ret0 == "free" && ret1 == 1 && err == nil}
	Swapped() (ret1 int, ret0 string, _ error)
	// Alike has a result that is called by the number of another one, which has no name.
	//
	//ratelimit:count=1 time=1h refund={ret1 != nil && err.Error() == ret1.Items[0]}
	Alike() (ret1 *Page, _ error)
	// Numbered has a parameter that is called by the number of a result.
	//
	//ratelimit:count=1 time=1h refund={$0 != nil && err.Error() == "broken"}
	Numbered(ret0 *Page) error
	// Panic gives nothing back.
	//
	//ratelimit:count=1 time=1h refund={err == nil}
	Panic() error
}

type Handler interface {
	//ratelimit:count=1 time=1h refund={r.Header.Get("X-Free") != ""}
	Serve(w http.ResponseWriter, r *http.Request)
	//ratelimit:count=1 time=1h refund={err != nil}
	Fail(w http.ResponseWriter, r *http.Request) error
}
