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

// operator knows those who may see and change limits by a password.
func operator(r *http.Request) (who string, ok bool) {
	user, password, ok := r.BasicAuth()
	secret := os.Getenv("OPERATOR") // without one nobody may, rather than whoever gives none
	return user, ok && secret != "" && subtle.ConstantTimeCompare([]byte(password), []byte(secret)) == 1
}

// guarded has the browser ask for the password, which a page cannot by itself.
func guarded(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := operator(r); !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="rate limits", charset="UTF-8"`)
			http.Error(w, "This page is for operators.", http.StatusUnauthorized)
			return
		}
		page.ServeHTTP(w, r)
	})
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
	mux.Handle("/ratelimit/", guarded(http.StripPrefix("/ratelimit", board)))

	for _, password := range []string{"", "guess", os.Getenv("OPERATOR")} {
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/ratelimit/", nil)
		request.SetBasicAuth("ann", password)
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		fmt.Println(response.Code, response.Header().Get("WWW-Authenticate"))
	}
	return nil
}

func ExampleDashboard() {
	_ = os.Setenv("OPERATOR", "correct horse battery staple")
	defer os.Unsetenv("OPERATOR")
	if err := serveLimits(context.Background(), http.NewServeMux()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 401 Basic realm="rate limits", charset="UTF-8"
	// 401 Basic realm="rate limits", charset="UTF-8"
	// 200
}
