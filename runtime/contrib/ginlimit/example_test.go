package ginlimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/ginlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// A router behind a proxy in 10.0.0.0/8, with a handler that is limited itself, and one that calls a limited service.
func ExampleMiddleware() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	limited := NewRateLimitedPages(pages{}, limiter)
	service := NewRateLimitedUsers(users{}, limiter)

	router := gin.New()
	router.Use(ginlimit.Middleware(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))))
	router.GET("/pages/:name", limited.Page) // answers refused requests by itself
	router.GET("/users/:id", func(c *gin.Context) {
		user, err := service.Get(c.Request.Context(), c.Param("id"))
		if err != nil {
			_ = c.Error(err) // a refusal is answered by the middleware
			return
		}
		c.String(http.StatusOK, user)
	})

	for _, path := range []string{"/pages/a", "/pages/a", "/users/7", "/users/7"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = "10.0.0.5:4711"
		r.Header.Set("X-Forwarded-For", "198.51.100.7")
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		fmt.Println(path, w.Code, w.Header().Get("RateLimit"))
	}
	// Output:
	// /pages/a 200 "1h";r=0;t=3600
	// /pages/a 429 "1h";r=0;t=3600
	// /users/7 200 "1h";r=0;t=3600
	// /users/7 429 "1h";r=0;t=3600
}

// Limits with by=user go by what the handlers in front have found out about the caller.
func ExampleCaller() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	limited := NewRateLimitedPages(pages{}, limiter)
	authenticate := func(c *gin.Context) { c.Set("user", c.GetHeader("User")) } // in place of one that verifies

	router := gin.New()
	user := ginlimit.Caller("user", func(c *gin.Context) string { return c.GetString("user") })
	router.Use(authenticate, ginlimit.Middleware(user))
	router.POST("/save", func(c *gin.Context) {
		if err := limited.Save(c); err != nil {
			_ = c.Error(err) // a refusal is answered already, and not again
		}
	})

	for _, name := range []string{"ann", "ann", "bob"} {
		r := httptest.NewRequest(http.MethodPost, "/save", nil)
		r.Header.Set("User", name)
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
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
	tests := read("example_test.go") + read("service_test.go") + read("inside_test.go")
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
