// Package takennames declares the names that the imports of a generated file would have.
package takennames

import (
	"context"
	"net/http"
	stdtime "time"
)

type Clock interface {
	//ratelimit:count=2 time=1h cost={len(n)}
	Now(ctx context.Context, n ...int) (stdtime.Time, error)
	//ratelimit:count=2 time=1h
	ServeHTTP(http.ResponseWriter, *http.Request)
}
