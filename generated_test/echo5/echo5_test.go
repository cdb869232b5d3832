package echo5_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v5"

	"github.com/ratelimitgen/ratelimitgen/generated_test/echo5"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

type pages struct{}

func (pages) Page(c *echo.Context) error { return c.String(http.StatusOK, "page") }

func (pages) Upload(c *echo.Context) error {
	if err := c.Request().Context().Err(); err != nil {
		return err
	}
	return c.String(http.StatusOK, "uploaded")
}

type users struct{}

func (users) Get(_ context.Context, id string) (string, error) { return fmt.Sprint("user ", id), nil }

func (users) Load(_ *echo.Context, id string) (string, error) { return fmt.Sprint("user ", id), nil }

// errorHandler answers errors of the limiter, but not those that decorators of handlers have answered.
func errorHandler(next echo.HTTPErrorHandler) echo.HTTPErrorHandler {
	return func(c *echo.Context, err error) {
		if res, _ := echo.UnwrapResponse(c.Response()); res != nil && res.Committed {
			return
		}
		if !httplimit.WriteError(c.Response(), c.Request(), err) {
			next(c, err)
		}
	}
}

// newEcho returns an Echo with limited handlers, and its logger writes nothing.
func newEcho(t *testing.T) *echo.Echo {
	t.Helper()
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	limited, service := echo5.NewRateLimitedPages(pages{}, limiter), echo5.NewRateLimitedUsers(users{}, limiter)
	e := echo.New()
	e.Logger = slog.New(slog.DiscardHandler)
	byUser := httplimit.Caller("user", func(r *http.Request) string { return r.Header.Get("User") })
	e.Use(echo.WrapMiddleware(httplimit.Middleware(byUser)))
	e.HTTPErrorHandler = errorHandler(e.HTTPErrorHandler)
	e.GET("/page/:name", limited.Page)
	e.GET("/upload", limited.Upload)
	e.GET("/user/:id", func(c *echo.Context) error {
		user, err := service.Get(c.Request().Context(), c.Param("id"))
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, user)
	})
	e.GET("/load/:id", func(c *echo.Context) error {
		user, err := service.Load(c, c.Param("id"))
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, user)
	})
	e.GET("/other", func(*echo.Context) error { return echo.NewHTTPError(http.StatusTeapot, "tea") })
	return e
}

func TestEcho5(t *testing.T) {
	srv := httptest.NewServer(newEcho(t))
	defer srv.Close()
	for i, step := range []struct {
		path, user string
		status     int
		body       string // "" for a problem
	}{
		{"/page/a", "", 200, "page"},
		{"/page/a", "", 429, ""}, // answered once, though the error goes to echo as well
		{"/page/b", "", 200, "page"},
		{"/upload", "", 200, "uploaded"},
		{"/upload", "", 200, "uploaded"},
		{"/user/1", "ann", 200, "user 1"},
		{"/user/1", "ann", 429, ""},
		{"/user/1", "bob", 200, "user 1"},
		{"/load/1", "ann", 200, "user 1"},
		{"/load/1", "ann", 429, ""},
		{"/other", "ann", 418, "{\"message\":\"tea\"}\n"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+step.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User", step.user)
		res, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != step.status || step.body != "" && string(body) != step.body {
			t.Errorf("step %d: got %d %q, want %d %q", i, res.StatusCode, body, step.status, step.body)
		}
		if fields := res.Header.Values("RateLimit"); len(fields) != 1 && step.path != "/other" {
			t.Errorf("step %d: %d RateLimit fields, want 1", i, len(fields))
		}
		if step.body == "" {
			decoder := json.NewDecoder(strings.NewReader(string(body)))
			var problem struct{ Status int }
			if err := decoder.Decode(&problem); err != nil || problem.Status != step.status || decoder.More() {
				t.Errorf("step %d: got %q, want one problem document", i, body)
			}
		}
	}
}
