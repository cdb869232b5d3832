package ginlimit_test

import (
	"bytes"
	"encoding/json"
	"errors"
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

	"github.com/gin-gonic/gin"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/ginlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	m.Run()
}

func newLimiter(t *testing.T) *ratelimit.Limiter {
	t.Helper()
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// proxies trusts the addresses that clients of these tests come through.
var proxies = httplimit.TrustedProxies(netip.MustParsePrefix("127.0.0.0/8"))

// byHeader takes the user out of a header. A program would take it from a token that it has verified.
func byHeader(c *gin.Context) { c.Set("user", c.GetHeader("User")) }

var caller = ginlimit.Caller("user", func(c *gin.Context) string { return c.GetString("user") })

// newServer serves a router over HTTP. What the server logs is an error.
func newServer(t *testing.T, router *gin.Engine) *httptest.Server {
	t.Helper()
	var logged syncBuffer
	srv := httptest.NewUnstartedServer(router)
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
	failing := func(err error, c *gin.Context) {
		if err != nil {
			_ = c.Error(err)
		}
	}
	router := gin.New()
	router.Use(byHeader, ginlimit.Middleware(proxies, caller))
	router.GET("/page/:name", limited.Page)
	router.GET("/item/:id", func(c *gin.Context) {
		id, _ := strconv.ParseInt(c.Param("id"), 10, 64)
		items.Item(c, id)
	})
	router.GET("/save", func(c *gin.Context) { failing(limited.Save(c), c) })
	router.GET("/user/:id", func(c *gin.Context) {
		user, err := service.Get(c.Request.Context(), c.Param("id"))
		if err != nil {
			_ = c.Error(err)
			return
		}
		c.String(http.StatusOK, user)
	})
	router.GET("/load/:id", func(c *gin.Context) {
		user, err := service.Load(c, c.Param("id"))
		if ginlimit.WriteError(c, err) {
			return
		}
		c.String(http.StatusOK, user)
	})
	srv := newServer(t, router)

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
		{"/item/7", ann, "", 429, ""},
		{"/save", ann, "ann", 200, "saved"},
		{"/save", bob, "ann", 429, ""}, // answered once, though the error goes to gin as well
		{"/save", bob, "bob", 200, "saved"},
		{"/save", bob, "", 429, ""}, // nobody
		{"/user/1", ann, "", 200, "user 1"},
		{"/user/1", ann, "", 429, ""},
		{"/user/0", bob, "", 200, ""}, // whose error nobody answers
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

// What follows the handler of a refused request is not called, in gin's chain, and neither is anything twice.
func TestRefusalEndsTheChain(t *testing.T) {
	limited := NewRateLimitedPages(pages{}, newLimiter(t))
	after, status, size := 0, 0, 0
	router := gin.New()
	router.Use(func(c *gin.Context) {
		c.Next()
		status, size = c.Writer.Status(), c.Writer.Size()
	}, ginlimit.Middleware(proxies))
	router.GET("/page/:name", limited.Page, func(*gin.Context) { after++ })
	srv := newServer(t, router)
	for i, want := range []int{200, 429} {
		res := get(t, srv, "/page/a", ann, "")
		if res.status != want || after != 1 {
			t.Errorf("call %d: got status %d, and %d handlers after it, want %d and 1", i+1, res.status, after, want)
		}
		if status != want || size != len(res.body) {
			t.Errorf("call %d: who is outside sees status %d and %d bytes, want %d and %d", i+1, status, size, want, len(res.body))
		}
	}
}

func TestErrorsAreAnsweredOnce(t *testing.T) {
	refusal := &ratelimit.LimitError{Method: "users.Users.Get", Name: "1s"}
	undecided := &ratelimit.DecisionError{Method: "users.Users.Get", Err: errors.New("down")}
	other := errors.New("broken")
	for name, test := range map[string]struct {
		handler gin.HandlerFunc
		status  int
		body    string // "" for a problem
	}{
		"given to gin":            {func(c *gin.Context) { _ = c.Error(refusal) }, 429, ""},
		"undecided":               {func(c *gin.Context) { _ = c.Error(undecided) }, 503, ""},
		"wrapped":                 {func(c *gin.Context) { _ = c.Error(errors.Join(other, refusal)) }, 429, ""},
		"beside another":          {func(c *gin.Context) { _ = c.Error(refusal); _ = c.Error(other) }, 429, ""},
		"behind another":          {func(c *gin.Context) { _ = c.Error(other); _ = c.Error(refusal) }, 429, ""},
		"given twice":             {func(c *gin.Context) { _ = c.Error(refusal); _ = c.Error(refusal) }, 429, ""},
		"written":                 {func(c *gin.Context) { ginlimit.WriteError(c, refusal) }, 429, ""},
		"written, and given":      {func(c *gin.Context) { ginlimit.WriteError(c, refusal); _ = c.Error(refusal) }, 429, ""},
		"written twice":           {func(c *gin.Context) { ginlimit.WriteError(c, refusal); ginlimit.WriteError(c, refusal) }, 429, ""},
		"two of them":             {func(c *gin.Context) { ginlimit.WriteError(c, refusal); ginlimit.WriteError(c, undecided) }, 429, ""},
		"a status of an error":    {func(c *gin.Context) { c.Status(500); _ = c.Error(refusal) }, 429, ""},
		"a status of its own":     {func(c *gin.Context) { c.Status(204); _ = c.Error(refusal) }, 204, "empty"},
		"a redirect":              {func(c *gin.Context) { c.Redirect(304, "/"); _ = c.Error(refusal) }, 304, "empty"},
		"answered by the handler": {func(c *gin.Context) { _ = c.Error(refusal); c.String(418, "tea") }, 418, "tea"},
		"answered by gin":         {func(c *gin.Context) { _ = c.AbortWithError(418, refusal) }, 418, "empty"},
		"another error":           {func(c *gin.Context) { c.Status(418); _ = c.Error(other) }, 418, "empty"},
		"another error, written":  {func(c *gin.Context) { c.String(418, "%t", ginlimit.WriteError(c, other)) }, 418, "false"},
		"a nil pointer, written":  {func(c *gin.Context) { c.String(418, "%t", ginlimit.WriteError(c, (*ratelimit.LimitError)(nil))) }, 418, "false"},
		"none, written":           {func(c *gin.Context) { c.String(418, "%t", ginlimit.WriteError(c, nil)) }, 418, "false"},
		"a body that has begun":   {func(c *gin.Context) { c.String(200, "a"); ginlimit.WriteError(c, refusal) }, 200, "a"},
	} {
		for _, middleware := range []gin.HandlerFunc{ginlimit.Middleware(), nil} {
			router := gin.New()
			if middleware != nil {
				router.Use(middleware)
			}
			router.GET("/", test.handler)
			res := get(t, newServer(t, router), "/", ann, "")
			switch {
			case middleware == nil && !strings.Contains(name, "written"): // nobody looks at gin's errors
			case test.body == "":
				wantProblem(t, name, res, test.status)
			case res.status != test.status || res.body != strings.TrimPrefix(test.body, "empty"):
				t.Errorf("%s: got %d %q, want %d %q", name, res.status, res.body, test.status, test.body)
			}
		}
	}
}

func TestSlotIsReleasedAndTheRequestComesBack(t *testing.T) {
	limited := NewRateLimitedItems(pages{}, newLimiter(t))
	var after error
	router := gin.New()
	router.Use(gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) { c.AbortWithStatus(500) }), ginlimit.Middleware(),
		func(c *gin.Context) {
			c.Next()
			after = c.Request.Context().Err()
		})
	router.GET("/", limited.Upload)
	router.GET("/panic", NewRateLimitedItems(panicking{}, newLimiter(t)).Upload)
	srv := newServer(t, router)
	for range 3 {
		if res := get(t, srv, "/", ann, ""); res.status != 200 || after != nil {
			t.Errorf("got %d, and behind the handler a context that says %v", res.status, after)
		}
		if res := get(t, srv, "/panic", ann, ""); res.status != 500 || res.header.Get("RateLimit") == "" {
			t.Errorf("got %d %v", res.status, res.header)
		}
	}
}

type panicking struct{ pages }

func (panicking) Upload(*gin.Context) { panic("the handler's own") }

func TestInvalidOptionsServeNothingAndSayWhy(t *testing.T) {
	for want, opt := range map[string]httplimit.Option{
		"TrustedHops(0): want at least 1":                                     httplimit.TrustedHops(0),
		`Caller("user"): want a function, not nil`:                            ginlimit.Caller("user", nil),
		`Caller("ip"): want another name, since "ip" is the client's address`: ginlimit.Caller("ip", func(*gin.Context) string { return "" }),
	} {
		router := gin.New()
		router.Use(ginlimit.Middleware(opt))
		router.GET("/", func(*gin.Context) { t.Errorf("%s: the handler was called", want) })
		var logged syncBuffer
		srv := httptest.NewUnstartedServer(router)
		srv.Config.ErrorLog = log.New(&logged, "", 0)
		srv.Start()
		res := get(t, srv, "/", ann, "")
		srv.Close()
		wantProblem(t, want, res, 500)
		if got := logged.String(); got != "httplimit: invalid options: "+want+"\n" || strings.Contains(res.body, "want") {
			t.Errorf("logged %q and answered %q, want %q in the log only", got, res.body, want)
		}
	}
}

// An attribute that comes from gin is missing where there is no gin.
func TestCallerNeedsGin(t *testing.T) {
	guard := newLimiter(t).Guard("m", ratelimit.Rule{Key: "{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
	handler := httplimit.Middleware(caller)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		err := guard.Allow(r.Context())
		if refusal, ok := errors.AsType[*ratelimit.LimitError](err); !ok || refusal.Missing != "user" {
			t.Errorf("got %v, want a refusal for want of a user", err)
		}
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
}
