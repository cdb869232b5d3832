package echolimit_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/echolimit"
)

// ways are handlers that begin and write responses in all the ways that echo and net/http have.
var ways = map[string]echo.HandlerFunc{
	"string":  func(c echo.Context) error { return c.String(http.StatusTeapot, "short and stout") },
	"json":    func(c echo.Context) error { return c.JSON(http.StatusCreated, map[string]int{"id": 7}) },
	"nothing": func(echo.Context) error { return nil },
	"empty":   func(c echo.Context) error { return c.NoContent(http.StatusNoContent) },
	"error":   func(echo.Context) error { return echo.NewHTTPError(http.StatusForbidden, "no") },
	"write": func(c echo.Context) error {
		_, err := c.Response().Write([]byte("written"))
		return err
	},
	"copy": func(c echo.Context) error {
		return c.Stream(http.StatusOK, "text/plain", strings.NewReader(strings.Repeat("c", 1<<18)))
	},
	"http": func(c echo.Context) error { http.Error(c.Response(), "not here", http.StatusNotFound); return nil },
	"serve": func(c echo.Context) error {
		http.ServeContent(c.Response(), c.Request(), "a.txt", time.Time{}, strings.NewReader("content"))
		return nil
	},
	"redirect": func(c echo.Context) error { return c.Redirect(http.StatusFound, "/string") },
	"hooks": func(c echo.Context) error {
		c.Response().Before(func() { c.Response().Header().Set("X-Before", "1") })
		after := 0
		c.Response().After(func() { after++ })
		if err := c.String(http.StatusOK, "a"); err != nil {
			return err
		}
		_, err := fmt.Fprint(c.Response(), after)
		return err
	},
	"flush": func(c echo.Context) error {
		c.Response().Flush()
		_, _ = io.WriteString(c.Response(), "a")
		c.Response().Flush()
		_, err := io.WriteString(c.Response(), "b")
		return err
	},
	"controller": func(c echo.Context) error {
		control := http.NewResponseController(c.Response())
		return c.JSON(http.StatusOK, []string{
			fmt.Sprint(control.SetReadDeadline(time.Now().Add(time.Minute))),
			fmt.Sprint(control.SetWriteDeadline(time.Now().Add(time.Minute))),
			fmt.Sprint(control.EnableFullDuplex()),
			fmt.Sprint(control.Flush()),
		})
	},
	"push": func(c echo.Context) error {
		_, pushes := c.Response().Writer.(http.Pusher)
		return c.String(http.StatusOK, fmt.Sprint(pushes))
	},
	"state": func(c echo.Context) error {
		res := c.Response()
		before := fmt.Sprint(res.Status, res.Size, res.Committed)
		_, _ = io.WriteString(res, "ab")
		_, err := fmt.Fprint(res, before, res.Status, res.Size, res.Committed)
		return err
	},
	"hijack": func(c echo.Context) error {
		conn, rw, err := c.Response().Hijack()
		if err != nil {
			return echo.NewHTTPError(http.StatusNotImplemented, err.Error())
		}
		_, _ = rw.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine")
		_ = rw.Flush()
		return conn.Close()
	},
}

// H14
func TestResponsesAreAsWithoutMiddleware(t *testing.T) {
	for _, test := range []struct {
		name     string
		major    int
		compress bool
	}{{"HTTP/1", 1, false}, {"HTTP/2", 2, false}, {"compressed", 1, true}} {
		serve := func(around ...echo.MiddlewareFunc) *httptest.Server {
			e := newEcho(around...)
			if test.compress {
				e.Use(middleware.Gzip())
			}
			for name, handler := range ways {
				e.GET("/"+name, handler)
			}
			srv := httptest.NewUnstartedServer(e)
			if test.major == 2 {
				srv.EnableHTTP2 = true
				srv.StartTLS()
			} else {
				srv.Start()
			}
			t.Cleanup(srv.Close)
			return srv
		}
		guard := newLimiter(t).Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1000, Period: time.Hour}})
		decide := func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error {
				if err := guard.Allow(c.Request().Context()); err != nil {
					t.Error(err)
				}
				return next(c)
			}
		}
		plain := serve()
		limited := serve(echolimit.Middleware(), echolimit.Middleware(), decide)
		for name := range ways {
			got, want := get(t, limited, "/"+name, ann, ""), get(t, plain, "/"+name, ann, "")
			if got.status != want.status || got.body != want.body {
				t.Errorf("%s, %s: got %d %.200q, want %d %.200q", test.name, name, got.status, got.body, want.status, want.body)
			}
			hijacked := got.body == "mine"
			if fields := len(got.header.Values("RateLimit")); fields != 1 && !hijacked {
				t.Errorf("%s, %s: %d RateLimit fields, want 1", test.name, name, fields)
			}
			for field := range got.header {
				if !strings.HasPrefix(field, "Ratelimit") && want.header[field] == nil {
					t.Errorf("%s, %s: has a field %s", test.name, name, field)
				}
			}
		}
	}
}

// A stream reaches the client while it is written.
func TestStreamIsNotHeldBack(t *testing.T) {
	next := make(chan struct{})
	e := newEcho(echolimit.Middleware())
	e.GET("/", func(c echo.Context) error {
		for c.Request().Context().Err() == nil {
			if _, err := io.WriteString(c.Response(), "tick\n"); err != nil {
				return err
			}
			c.Response().Flush()
			<-next
		}
		return nil
	})
	srv := newServer(t, e)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(res.Body)
	for range 3 {
		if line, err := lines.ReadString('\n'); line != "tick\n" || err != nil {
			t.Fatalf("got %q, %v", line, err)
		}
		next <- struct{}{}
	}
	_ = res.Body.Close() // the client goes away
	close(next)
}

// Echo's middleware Timeout, which is deprecated, drops what a handler has written and returns its error, but has noted that the
// response was begun, so that no error handler answers: the client gets an empty 200 of any handler that does so. A refusal
// that is only returned is answered.
func TestTimeouts(t *testing.T) {
	timeout := middleware.TimeoutWithConfig(middleware.TimeoutConfig{Timeout: time.Minute}) //nolint:staticcheck // its users have it still
	for name, test := range map[string]struct {
		around  []echo.MiddlewareFunc
		handler int // the status of a refused handler
	}{
		"ContextTimeout outside": {[]echo.MiddlewareFunc{middleware.ContextTimeout(time.Minute), echolimit.Middleware(proxies)}, 429},
		"ContextTimeout inside":  {[]echo.MiddlewareFunc{echolimit.Middleware(proxies), middleware.ContextTimeout(time.Minute)}, 429},
		"Timeout outside":        {[]echo.MiddlewareFunc{timeout, echolimit.Middleware(proxies)}, 200},
		"Timeout inside":         {[]echo.MiddlewareFunc{echolimit.Middleware(proxies), timeout}, 200},
	} {
		limiter := newLimiter(t)
		limited, service := NewRateLimitedPages(pages{}, limiter), NewRateLimitedUsers(users{}, limiter)
		e := newEcho(test.around...)
		e.GET("/page/:name", limited.Page)
		e.GET("/user/:id", func(c echo.Context) error {
			user, err := service.Get(c.Request().Context(), c.Param("id"))
			if err != nil {
				return err
			}
			return c.String(http.StatusOK, user)
		})
		e.GET("/own", func(c echo.Context) error {
			_ = c.String(http.StatusTooManyRequests, "no")
			return echo.ErrTooManyRequests
		})
		srv := newServer(t, e)
		for _, path := range []string{"/page/a", "/user/1"} {
			if res := get(t, srv, path, ann, ""); res.status != 200 {
				t.Errorf("%s, %s: got %d %q", name, path, res.status, res.body)
			}
		}
		wantProblem(t, name+", a service", get(t, srv, "/user/1", ann, ""), 429)
		refused := get(t, srv, "/page/a", ann, "")
		if test.handler == 429 {
			wantProblem(t, name+", a handler", refused, 429)
			continue
		}
		if own := get(t, srv, "/own", ann, ""); refused.status != own.status || refused.body != own.body || own.status != test.handler || own.body != "" {
			t.Errorf("%s: got %d %q, and of a handler of its own %d %q", name, refused.status, refused.body, own.status, own.body)
		}
	}
}
