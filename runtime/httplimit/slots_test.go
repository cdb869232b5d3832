package httplimit_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// C12, C14: the slot of a request is free again however its handler ends, and when its client does not wait for that.
func TestSlotOfARequestIsReleased(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		leaves  bool // whether the client goes away in the middle of the response
	}{
		{"returns", func(http.ResponseWriter, *http.Request) {}, false},
		{"panics", func(http.ResponseWriter, *http.Request) { panic("the handler's own") }, false},
		{"aborts", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
		{"exits", func(http.ResponseWriter, *http.Request) { runtime.Goexit() }, false},
		{"client leaves", func(w http.ResponseWriter, r *http.Request) {
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			<-r.Context().Done()
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			limiter, err := ratelimit.New(memlimit.New())
			if err != nil {
				t.Fatal(err)
			}
			slots := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1, Period: time.Hour}
			guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: slots})
			served := make(chan struct{}, 1)
			handler := tt.handler
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func() { served <- struct{}{} }()
				call, err := guard.Begin(r.Context())
				if httplimit.WriteError(w, r, err) {
					return
				}
				defer call.End()
				handler(w, r.WithContext(call.Context()))
			}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // the panics
			server.Start()
			defer server.Close()

			for range 3 {
				res, err := server.Client().Get(server.URL)
				switch {
				case err != nil:
					if tt.leaves {
						t.Fatal(err)
					}
				case res.StatusCode != http.StatusOK:
					t.Fatalf("status %d: want 200", res.StatusCode)
				default:
					_ = res.Body.Close()
				}
				<-served
			}
		})
	}
}
