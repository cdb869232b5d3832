package echolimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/echolimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// A server behind a proxy in 10.0.0.0/8, with a handler that is limited itself, and one that calls a limited service.
func ExampleMiddleware() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	limited := NewRateLimitedPages(pages{}, limiter)
	service := NewRateLimitedUsers(users{}, limiter)

	e := echo.New()
	e.Use(echolimit.Middleware(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))))
	e.HTTPErrorHandler = echolimit.ErrorHandler(e.HTTPErrorHandler)
	e.GET("/pages/:name", limited.Page) // answers refused requests by itself
	e.GET("/users/:id", func(c echo.Context) error {
		user, err := service.Get(c.Request().Context(), c.Param("id"))
		if err != nil {
			return err // a refusal is answered by the error handler
		}
		return c.String(http.StatusOK, user)
	})

	for _, path := range []string{"/pages/a", "/pages/a", "/users/7", "/users/7"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = "10.0.0.5:4711"
		r.Header.Set("X-Forwarded-For", "198.51.100.7")
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		fmt.Println(path, w.Code, w.Header().Get("RateLimit"))
	}
	// Output:
	// /pages/a 200 "1h";r=0;t=3600
	// /pages/a 429 "1h";r=0;t=3600
	// /users/7 200 "1h";r=0;t=3600
	// /users/7 429 "1h";r=0;t=3600
}

// Limits with by=user go by what the middleware in front has found out about the caller.
func ExampleCaller() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	limited := NewRateLimitedPages(pages{}, limiter)
	authenticate := byHeader // in place of one that verifies

	e := echo.New()
	user := echolimit.Caller("user", func(c echo.Context) string {
		user, _ := c.Get("user").(string)
		return user
	})
	e.Use(authenticate, echolimit.Middleware(user))
	e.POST("/save", limited.Save)

	for _, name := range []string{"ann", "ann", "bob"} {
		r := httptest.NewRequest(http.MethodPost, "/save", nil)
		r.Header.Set("User", name)
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		fmt.Println(name, w.Code)
	}
	// Output:
	// ann 200
	// ann 429
	// bob 200
}

// TestREADME looks for each block of the README among the tests.
func TestREADME(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(string(text), "")
	}
	tests := read("example_test.go") + read("service_test.go")
	blocks := strings.Split(read("README.md"), "\n```go\n")[1:]
	for i, block := range blocks {
		block, _, _ = strings.Cut(block, "```\n")
		if !strings.Contains(tests, "\n"+block) {
			t.Errorf("block %d is in no test:\n%s", i+1, block)
		}
	}
	if len(blocks) < 3 {
		t.Errorf("the README has %d blocks", len(blocks))
	}
}
