package ginlimit_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/ginlimit"
)

// ways are handlers that begin and write responses in all the ways that gin and net/http have.
var ways = map[string]gin.HandlerFunc{
	"string":  func(c *gin.Context) { c.String(http.StatusTeapot, "short and stout") },
	"json":    func(c *gin.Context) { c.JSON(http.StatusCreated, gin.H{"id": 7}) },
	"nothing": func(*gin.Context) {},
	"status":  func(c *gin.Context) { c.Status(http.StatusNoContent) },
	"now":     func(c *gin.Context) { c.Status(http.StatusAccepted); c.Writer.WriteHeaderNow() },
	"abort":   func(c *gin.Context) { c.AbortWithStatus(http.StatusForbidden) },
	"twice":   func(c *gin.Context) { c.String(http.StatusOK, "a"); c.String(http.StatusOK, "b") },
	"write":   func(c *gin.Context) { _, _ = c.Writer.Write([]byte("written")) },
	"copy":    func(c *gin.Context) { _, _ = io.CopyN(c.Writer, strings.NewReader(strings.Repeat("c", 1<<18)), 1<<18) },
	"http":    func(c *gin.Context) { http.Error(c.Writer, "not here", http.StatusNotFound) },
	"serve": func(c *gin.Context) {
		http.ServeContent(c.Writer, c.Request, "a.txt", time.Time{}, strings.NewReader("content"))
	},
	"redirect": func(c *gin.Context) { c.Redirect(http.StatusNotModified, "/") },
	"flush": func(c *gin.Context) {
		c.Writer.Flush()
		_, _ = c.Writer.WriteString("a")
		c.Writer.Flush()
		_, _ = c.Writer.WriteString("b")
	},
	"stream": func(c *gin.Context) {
		n := 0
		c.Stream(func(w io.Writer) bool {
			n++
			_, _ = fmt.Fprintln(w, n)
			return n < 3
		})
	},
	"events": func(c *gin.Context) { c.SSEvent("message", "hello"); c.SSEvent("message", "again") },
	"controller": func(c *gin.Context) {
		control := http.NewResponseController(c.Writer)
		c.JSON(http.StatusOK, gin.H{
			"SetReadDeadline":  fmt.Sprint(control.SetReadDeadline(time.Now().Add(time.Minute))),
			"SetWriteDeadline": fmt.Sprint(control.SetWriteDeadline(time.Now().Add(time.Minute))),
			"EnableFullDuplex": fmt.Sprint(control.EnableFullDuplex()),
			"Flush":            fmt.Sprint(control.Flush()),
		})
	},
	"push": func(c *gin.Context) { c.String(http.StatusOK, "%t", c.Writer.Pusher() != nil) },
	"state": func(c *gin.Context) {
		before := []any{c.Writer.Status(), c.Writer.Size(), c.Writer.Written()}
		_, _ = c.Writer.WriteString("ab")
		_ = json.NewEncoder(c.Writer).Encode(append(before, c.Writer.Status(), c.Writer.Size(), c.Writer.Written()))
	},
	"hijack": func(c *gin.Context) {
		conn, rw, err := c.Writer.Hijack()
		if err != nil {
			_ = c.Error(err)
			return
		}
		_, _ = rw.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine")
		_ = rw.Flush()
		_ = conn.Close()
	},
}

// H14
func TestResponsesAreAsWithoutMiddleware(t *testing.T) {
	for _, major := range []int{1, 2} {
		serve := func(middleware ...gin.HandlerFunc) *httptest.Server {
			router := gin.New()
			router.Use(middleware...)
			for name, handler := range ways {
				router.GET("/"+name, handler)
			}
			srv := httptest.NewUnstartedServer(router)
			if major == 2 {
				srv.EnableHTTP2 = true
				srv.StartTLS()
			} else {
				srv.Start()
			}
			t.Cleanup(srv.Close)
			return srv
		}
		guard := newLimiter(t).Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1000, Period: time.Hour}})
		plain := serve()
		limited := serve(ginlimit.Middleware(), ginlimit.Middleware(), func(c *gin.Context) {
			if err := guard.Allow(c.Request.Context()); err != nil {
				t.Error(err)
			}
		})
		for name := range ways {
			if name == "hijack" && major == 2 {
				continue // gin's writer panics
			}
			got, want := get(t, limited, "/"+name, ann, ""), get(t, plain, "/"+name, ann, "")
			if got.status != want.status || got.body != want.body {
				t.Errorf("HTTP/%d, %s: got %d %.200q, want %d %.200q", major, name, got.status, got.body, want.status, want.body)
			}
			if fields := len(got.header.Values("RateLimit")); fields != 1 && name != "hijack" {
				t.Errorf("HTTP/%d, %s: %d RateLimit fields, want 1", major, name, fields)
			}
			for field := range got.header {
				if !strings.HasPrefix(field, "Ratelimit") && want.header[field] == nil {
					t.Errorf("HTTP/%d, %s: has a field %s", major, name, field)
				}
			}
		}
	}
}

// What is decided after the status is chosen, and before the response begins, is still shown.
func TestFieldsWaitForTheResponse(t *testing.T) {
	guard := newLimiter(t).Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 5, Period: time.Hour}})
	router := gin.New()
	router.Use(ginlimit.Middleware())
	router.GET("/", func(c *gin.Context) {
		c.Status(http.StatusAccepted)
		if err := guard.Allow(c.Request.Context()); err != nil {
			t.Error(err)
		}
		_, _ = c.Writer.WriteString("later")
	})
	res := get(t, newServer(t, router), "/", ann, "")
	if got := res.header.Get("RateLimit"); res.status != http.StatusAccepted || got != `"1h";r=4;t=720` {
		t.Errorf("got %d and %s", res.status, got)
	}
}

// A stream reaches the client while it is written.
func TestStreamIsNotHeldBack(t *testing.T) {
	next := make(chan struct{})
	router := gin.New()
	router.Use(ginlimit.Middleware())
	router.GET("/", func(c *gin.Context) {
		c.Stream(func(w io.Writer) bool {
			_, err := io.WriteString(w, "tick\n")
			c.Writer.Flush()
			<-next
			return err == nil && c.Request.Context().Err() == nil
		})
	})
	srv := newServer(t, router)
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
