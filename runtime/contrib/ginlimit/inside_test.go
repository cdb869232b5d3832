package ginlimit_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/ginlimit"
)

// zip compresses as gin-contrib/gzip does from version 1.1: its writer stays in the context, and is closed.
func zip(c *gin.Context) {
	body := gzip.NewWriter(c.Writer)
	c.Header("Content-Encoding", "gzip")
	c.Writer = &zipped{c.Writer, body}
	defer func() {
		if c.Writer.Size() < 0 {
			body.Reset(io.Discard)
		}
		_ = body.Close()
	}()
	c.Next()
}

type zipped struct {
	gin.ResponseWriter

	body *gzip.Writer
}

func (z *zipped) Write(p []byte) (int, error)       { return z.body.Write(p) }
func (z *zipped) WriteString(s string) (int, error) { return z.body.Write([]byte(s)) }

// A refusal has its body whoever compresses, and wherever.
func TestRefusalUnderCompression(t *testing.T) {
	refusal := &ratelimit.LimitError{Method: "users.Users.Get", Name: "1s"}
	for name, chain := range map[string][]gin.HandlerFunc{
		"around": {zip, ginlimit.Middleware()},
		"inside": {ginlimit.Middleware(), zip},
	} {
		limited := NewRateLimitedPages(pages{}, newLimiter(t))
		router := gin.New()
		router.Use(chain...)
		router.GET("/page/:name", limited.Page)
		router.GET("/given", func(c *gin.Context) { _ = c.Error(refusal) })
		router.GET("/written", func(c *gin.Context) { ginlimit.WriteError(c, refusal) })
		srv := newServer(t, router)
		for _, path := range []string{"/page/a", "/page/a", "/given", "/written"} {
			res := get(t, srv, path, ann, "") // decompresses
			if path == "/page/a" && res.status == 200 && res.body == "page" {
				continue
			}
			wantProblem(t, name+" "+path, res, 429)
			if fields := len(res.header.Values("RateLimit")); fields != 1 && strings.HasPrefix(path, "/page") {
				t.Errorf("%s %s: %d RateLimit fields, want 1", name, path, fields)
			}
		}
	}
}

// Gin puts its own writer back when it serves a request anew.
func TestFieldsOfARequestThatIsServedAnew(t *testing.T) {
	limited := NewRateLimitedPages(pages{}, newLimiter(t))
	router := gin.New()
	router.Use(ginlimit.Middleware(), ginlimit.Middleware(caller))
	router.GET("/page/:name", limited.Page)
	router.GET("/old", func(c *gin.Context) {
		c.Request.URL.Path = "/page/a"
		router.HandleContext(c)
		c.Abort()
	})
	srv := newServer(t, router)
	for i, want := range []string{`"1h";r=0;t=3600`, `"1h";r=0;t=3600`} {
		res := get(t, srv, "/old", ann, "")
		if fields := res.header.Values("RateLimit"); len(fields) != 1 || fields[0] != want {
			t.Errorf("call %d: got RateLimit %q, want %s", i+1, fields, want)
		}
		if i == 1 {
			wantProblem(t, "served anew", res, 429)
		}
	}
}

// Without an error in a handler's signature gin has no say in how errors are answered: programs bring an adapter and a handler
// of errors of their own. Both ask WriteError first.
func TestProgramsOwnErrors(t *testing.T) {
	adapt := func(handle func(c *gin.Context) error) gin.HandlerFunc {
		return func(c *gin.Context) {
			if err := handle(c); err != nil && !ginlimit.WriteError(c, err) {
				c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
			}
		}
	}
	for name, chain := range map[string][]gin.HandlerFunc{
		"outside": {errorHandler, ginlimit.Middleware(proxies, caller)},
		"inside":  {ginlimit.Middleware(proxies, caller), errorHandler},
	} {
		limiter := newLimiter(t)
		limited, service := NewRateLimitedPages(pages{}, limiter), NewRateLimitedUsers(users{}, limiter)
		router := gin.New()
		router.Use(byHeader)
		router.Use(chain...)
		router.GET("/save", adapt(limited.Save))
		router.GET("/user/:id", func(c *gin.Context) {
			user, err := service.Get(c.Request.Context(), c.Param("id"))
			if err != nil {
				_ = c.Error(err)
				return
			}
			c.String(http.StatusOK, user)
		})
		srv := newServer(t, router)
		for _, step := range []struct {
			path, addr string
			status     int
			body       string // "" for a problem
		}{
			{"/save", ann, 200, "saved"},
			{"/save", ann, 429, ""},
			{"/user/1", ann, 200, "user 1"},
			{"/user/1", ann, 429, ""},
			{"/user/0", bob, 500, `{"message":"no such user","success":false}`},
		} {
			res := get(t, srv, step.path, step.addr, "ann")
			switch {
			case step.body == "":
				wantProblem(t, name+" "+step.path, res, step.status)
			case res.status != step.status || res.body != step.body:
				t.Errorf("%s %s: got %d %q, want %d %q", name, step.path, res.status, res.body, step.status, step.body)
			}
		}
	}
}

// A handler of errors as gin's documentation has it, which answers refusals as such.
func errorHandler(c *gin.Context) {
	c.Next()
	if len(c.Errors) == 0 {
		return
	}
	err := c.Errors.Last().Err
	if ginlimit.WriteError(c, err) {
		return
	}
	c.JSON(http.StatusInternalServerError, gin.H{"success": false, "message": err.Error()})
}
