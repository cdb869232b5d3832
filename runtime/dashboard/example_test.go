package dashboard_test

import (
	"context"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// operator knows those who may change limits by a password.
func operator(r *http.Request) (who string, ok bool) {
	user, password, ok := r.BasicAuth()
	return user, ok && subtle.ConstantTimeCompare([]byte(password), []byte(os.Getenv("OPERATOR"))) == 1
}

func serveLimits(ctx context.Context, mux *http.ServeMux) error {
	overrides := ratelimit.NewOverrides() // of this process; those of a redislimit.Store are of all
	board := dashboard.New(dashboard.EditWith(overrides, operator))
	defer board.Close()
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe(board, ratelimit.Log(slog.Default())))
	if err != nil {
		return err
	}
	if err := limiter.Watch(ctx, overrides); err != nil {
		return err
	}
	board.Show(limiter)
	mux.Handle("/ratelimit/", http.StripPrefix("/ratelimit", board))

	response := httptest.NewRecorder()
	mux.ServeHTTP(response, httptest.NewRequestWithContext(ctx, http.MethodGet, "/ratelimit/", nil))
	fmt.Println(response.Code, response.Header().Get("Content-Type"))

	response = httptest.NewRecorder()
	mux.ServeHTTP(response, httptest.NewRequestWithContext(ctx, http.MethodGet, "/ratelimit/overrides", nil))
	fmt.Print(response.Code, " ", response.Body)
	return nil
}

func ExampleDashboard() {
	if err := serveLimits(context.Background(), http.NewServeMux()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 200 text/html; charset=utf-8
	// 403 You may not change limits.
}
