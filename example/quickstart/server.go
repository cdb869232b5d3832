package main

import (
	"encoding/json"
	"net/http"
	"net/netip"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// handler serves the limited service over HTTP.
func handler(limiter *ratelimit.Limiter) http.Handler {
	tests := NewRateLimitedTestService(service{}, limiter)

	mux := http.NewServeMux()
	mux.Handle("GET /status", NewRateLimitedStatusPage(service{}, limiter))
	mux.HandleFunc("GET /test/{id}", func(w http.ResponseWriter, r *http.Request) {
		result, err := tests.TestGet(r.Context(), r.PathValue("id"))
		if err != nil {
			if !httplimit.WriteError(w, r, err) {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result) // the client has gone if it fails
	})

	// The demo's clients reach the server through a proxy on this machine, which tells their addresses.
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	return httplimit.Middleware(httplimit.TrustedProxies(loopback))(mux)
}
