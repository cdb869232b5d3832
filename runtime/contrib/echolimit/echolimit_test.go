package echolimit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/echolimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func newLimiter(t *testing.T) *ratelimit.Limiter {
	t.Helper()
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// newEcho returns an Echo that answers errors of the limiter.
func newEcho(middleware ...echo.MiddlewareFunc) *echo.Echo {
	e := echo.New()
	e.Logger.SetOutput(io.Discard)
	e.Use(middleware...)
	e.HTTPErrorHandler = echolimit.ErrorHandler(e.HTTPErrorHandler)
	return e
}

// proxies trusts the addresses that clients of these tests come through.
var proxies = httplimit.TrustedProxies(netip.MustParsePrefix("127.0.0.0/8"))

// byHeader takes the user out of a header. A program would take it from a token that it has verified.
func byHeader(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set("user", c.Request().Header.Get("User"))
		return next(c)
	}
}

var caller = echolimit.Caller("user", func(c echo.Context) string {
	user, _ := c.Get("user").(string)
	return user
})

// newServer serves over HTTP. What the server logs is an error.
func newServer(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	var logged syncBuffer
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(&logged, "", 0)
	srv.Start()
	t.Cleanup(func() {
		srv.Close()
		if s := logged.String(); s != "" { // e.g. http: superfluous response.WriteHeader call
			t.Errorf("the server logged %q", s)
		}
	})
	return srv
}

// syncBuffer is a bytes.Buffer for several goroutines.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

type response struct {
	status int
	header http.Header
	body   string
}

// get calls a path as a client of that address and a user of that name.
func get(t *testing.T, srv *httptest.Server, path, addr, user string) response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", addr)
	r.Header.Set("User", user)
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{res.StatusCode, res.Header, string(body)}
}

const ann, bob = "203.0.113.7", "203.0.113.8" // addresses

// wantProblem checks that a response is one problem document, and no more.
func wantProblem(t *testing.T, what string, res response, status int) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(res.body))
	var problem struct{ Status int }
	if err := decoder.Decode(&problem); err != nil || problem.Status != status || res.status != status || decoder.More() {
		t.Errorf("%s: got %d %q, want a problem of status %d and no more", what, res.status, res.body, status)
	}
	if got := res.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s: the content type is %q", what, got)
	}
}

func TestHandlersAndServicesKnowTheirCallers(t *testing.T) {
	limiter := newLimiter(t)
	limited, service := NewRateLimitedPages(pages{}, limiter), NewRateLimitedUsers(users{}, limiter)
	items := NewRateLimitedItems(pages{}, limiter)
	e := newEcho(byHeader, echolimit.Middleware(proxies, caller))
	e.GET("/page/:name", limited.Page)
	e.GET("/save", limited.Save)
	e.GET("/item/:id", func(c echo.Context) error {
		id, _ := strconv.ParseInt(c.Param("id"), 10, 64)
		return items.Item(c, id)
	})
	e.GET("/user/:id", func(c echo.Context) error {
		user, err := service.Get(c.Request().Context(), c.Param("id"))
		if err != nil {
			return fmt.Errorf("get user: %w", err)
		}
		return c.String(http.StatusOK, user)
	})
	e.GET("/load/:id", func(c echo.Context) error {
		user, err := service.Load(c, c.Param("id"))
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, user)
	})
	srv := newServer(t, e)

	for i, step := range []struct {
		path, addr, user string
		status           int
		body             string // "" for a problem
	}{
		{"/page/a", ann, "", 200, "page"},
		{"/page/a", ann, "", 429, ""},
		{"/page/a", bob, "", 200, "page"},
		{"/page/b", ann, "", 200, "page"},
		{"/item/7", ann, "", 200, "item 7"},
		{"/item/7", ann, "", 429, ""}, // answered once, though the error goes to echo as well
		{"/save", ann, "ann", 200, "saved"},
		{"/save", bob, "ann", 429, ""},
		{"/save", bob, "bob", 200, "saved"},
		{"/save", bob, "", 429, ""}, // nobody
		{"/user/1", ann, "", 200, "user 1"},
		{"/user/1", ann, "", 429, ""},
		{"/load/1", ann, "", 200, "user 1"},
		{"/load/1", ann, "", 429, ""},
		{"/load/1", bob, "", 200, "user 1"},
	} {
		res := get(t, srv, step.path, step.addr, step.user)
		switch {
		case step.status == 200 && (res.status != 200 || res.body != step.body):
			t.Errorf("step %d: got %d %q, want %q", i, res.status, res.body, step.body)
		case step.status != 200:
			wantProblem(t, step.path, res, step.status)
		}
		if fields := res.header.Values("RateLimit"); len(fields) != 1 {
			t.Errorf("step %d: %d RateLimit fields, want 1: %q", i, len(fields), fields)
		}
		if after := res.header.Get("Retry-After"); (after != "") != (step.status == 429 && i != 9) {
			t.Errorf("step %d: Retry-After is %q", i, after)
		}
	}
}

func TestErrorsAreAnsweredOnce(t *testing.T) {
	refusal := &ratelimit.LimitError{Method: "users.Users.Get", Name: "1s"}
	undecided := &ratelimit.DecisionError{Method: "users.Users.Get", Err: errors.New("down")}
	const notFound = "{\"message\":\"no such user\"}\n"
	for name, test := range map[string]struct {
		handler echo.HandlerFunc
		status  int
		body    string // "" for a problem
	}{
		"refused":             {func(echo.Context) error { return refusal }, 429, ""},
		"undecided":           {func(echo.Context) error { return undecided }, 503, ""},
		"wrapped":             {func(echo.Context) error { return errors.Join(errors.New("broken"), refusal) }, 429, ""},
		"wrapped by echo":     {func(echo.Context) error { return echo.ErrInternalServerError.WithInternal(refusal) }, 429, ""},
		"answered, and given": {func(c echo.Context) error { c.Error(refusal); return refusal }, 429, ""},
		"by httplimit": {func(c echo.Context) error {
			httplimit.WriteError(c.Response(), c.Request(), refusal)
			return refusal
		}, 429, ""},
		"a body that has begun": {func(c echo.Context) error { _ = c.String(200, "a"); return refusal }, 200, "a"},
		"another error":         {func(echo.Context) error { return echo.NewHTTPError(404, "no such user") }, 404, notFound},
		"a nil pointer":         {func(echo.Context) error { return (*ratelimit.LimitError)(nil) }, 500, "{\"message\":\"Internal Server Error\"}\n"},
		"no error":              {func(c echo.Context) error { return c.NoContent(204) }, 204, "empty"},
	} {
		careless := func(err error, c echo.Context) { // does not look whether the response has begun
			he, ok := errors.AsType[*echo.HTTPError](err)
			if !ok {
				he = echo.ErrInternalServerError
			}
			_ = c.JSON(he.Code, map[string]any{"message": he.Message})
		}
		for _, own := range []echo.HTTPErrorHandler{nil, careless} {
			for _, around := range [][]echo.MiddlewareFunc{nil, {echolimit.Middleware()}, {echolimit.Middleware(), errs}} {
				e := newEcho(around...)
				if own != nil {
					e.HTTPErrorHandler = echolimit.ErrorHandler(own)
				}
				e.GET("/", test.handler)
				res := get(t, newServer(t, e), "/", ann, "")
				switch {
				case test.body == "":
					wantProblem(t, name, res, test.status)
				case res.status != test.status || res.body != strings.TrimPrefix(test.body, "empty"):
					t.Errorf("%s: got %d %q, want %d %q", name, res.status, res.body, test.status, test.body)
				}
			}
		}
	}
}

// errs has errors answered before they reach the outer middleware, as those do that log the status.
func errs(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			c.Error(err)
		}
		return nil
	}
}

// The refusal of a service for want of a caller is decided by nobody's bucket, and answered when the handler has returned.
func TestRefusalForWantOfACallerHasFields(t *testing.T) {
	service := NewRateLimitedUsers(users{}, newLimiter(t))
	e := newEcho(echolimit.Middleware(httplimit.XRateLimit()))
	e.GET("/", func(echo.Context) error {
		_, err := service.Get(context.Background(), "7")
		return err
	})
	res := get(t, newServer(t, e), "/", ann, "")
	wantProblem(t, "nobody", res, 429)
	for field, want := range map[string]string{"RateLimit-Policy": `"1h";q=1;w=3600`, "RateLimit": `"1h";r=0`, "X-RateLimit-Limit": "1"} {
		if got := res.header.Values(field); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}

// Who is outside of the middleware sees what was answered, and a context that has not ended.
func TestOuterMiddlewareSeesTheResponse(t *testing.T) {
	items := NewRateLimitedItems(pages{}, newLimiter(t))
	var status int
	var size int64
	var ended error
	e := newEcho(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			err := next(c)
			status, size, ended = c.Response().Status, c.Response().Size, c.Request().Context().Err()
			return err
		}
	}, middleware.Recover(), echolimit.Middleware(proxies))
	e.GET("/item", func(c echo.Context) error { return items.Item(c, 7) })
	e.GET("/upload", items.Upload)
	e.GET("/nothing", func(echo.Context) error { return nil })
	e.GET("/panic", NewRateLimitedItems(panicking{}, newLimiter(t)).Upload)
	srv := newServer(t, e)
	for i, step := range []struct {
		path   string
		status int
	}{{"/item", 200}, {"/item", 429}, {"/upload", 200}, {"/upload", 200}, {"/nothing", 200}, {"/panic", 500}, {"/panic", 500}} {
		res := get(t, srv, step.path, ann, "")
		if res.status != step.status {
			t.Errorf("step %d: got %d, want %d", i, res.status, step.status)
		}
		if seen := step.path != "/panic"; ended != nil || seen && (status != step.status || size != int64(len(res.body))) {
			t.Errorf("step %d: who is outside sees status %d, %d bytes and %v, want %d and %d", i, status, size, ended, step.status, len(res.body))
		}
	}
}

type panicking struct{ pages }

func (panicking) Upload(echo.Context) error { panic("the handler's own") }

func TestInvalidOptionsServeNothingAndSayWhy(t *testing.T) {
	for want, opt := range map[string]httplimit.Option{
		"TrustedHops(0): want at least 1":                                     httplimit.TrustedHops(0),
		`Caller("user"): want a function, not nil`:                            echolimit.Caller("user", nil),
		`Caller("ip"): want another name, since "ip" is the client's address`: echolimit.Caller("ip", func(echo.Context) string { return "" }),
	} {
		var status int
		e := newEcho(func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error {
				err := next(c)
				status = c.Response().Status
				return err
			}
		}, echolimit.Middleware(opt))
		e.GET("/", func(echo.Context) error { t.Errorf("%s: the handler was called", want); return nil })
		var logged syncBuffer
		srv := httptest.NewUnstartedServer(e)
		srv.Config.ErrorLog = log.New(&logged, "", 0)
		srv.Start()
		res := get(t, srv, "/", ann, "")
		srv.Close()
		wantProblem(t, want, res, 500)
		if got := logged.String(); got != "httplimit: invalid options: "+want+"\n" || strings.Contains(res.body, "want") {
			t.Errorf("logged %q and answered %q, want %q in the log only", got, res.body, want)
		}
		if status != 500 {
			t.Errorf("%s: who is outside sees status %d", want, status)
		}
	}
}

// An attribute that comes from echo is missing where there is no echo.
func TestCallerNeedsEcho(t *testing.T) {
	guard := newLimiter(t).Guard("m", ratelimit.Rule{Key: "{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
	handler := httplimit.Middleware(caller)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		err := guard.Allow(r.Context())
		if refusal, ok := errors.AsType[*ratelimit.LimitError](err); !ok || refusal.Missing != "user" {
			t.Errorf("got %v, want a refusal for want of a user", err)
		}
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
}
