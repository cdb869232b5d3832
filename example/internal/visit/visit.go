// Package visit calls the server of an example as several clients, prints what they are told, and compares it with what they
// are to be told.
package visit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Proxy is where the clients come through: a proxy on this machine, which tells their addresses in X-Forwarded-For.
var Proxy = netip.MustParsePrefix("127.0.0.0/8")

// Call is a request, and the status that it is to get.
type Call struct {
	Client string // its address
	User   string // who it says it is; may be empty
	Path   string
	Want   int
}

// Server serves handler on a free loopback port for as long as the calls take, one after the other, and prints a line for
// each. The error names each call that was told something else.
func Server(ctx context.Context, out io.Writer, handler http.Handler, calls []Call) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends by Close
	}()
	base := "http://" + listener.Addr().String()
	fmt.Fprintf(out, "Serving on %s.\n\n", base)

	var errs []error
	for i, call := range calls {
		if err := call.make(ctx, out, base); err != nil {
			errs = append(errs, fmt.Errorf("call %d: %w", i+1, err))
		}
	}
	_ = server.Close() // it serves nobody else
	<-served
	http.DefaultClient.CloseIdleConnections()
	return errors.Join(errs...)
}

// make calls the server once.
func (c Call) make(ctx context.Context, out io.Writer, base string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+c.Path, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("X-Forwarded-For", c.Client)
	r.Header.Set("User", c.User)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %-4s GET %-10s %d", c.Client, c.User, c.Path, resp.StatusCode)
	for _, field := range []string{"RateLimit", "Retry-After"} {
		if value := resp.Header.Get(field); value != "" {
			fmt.Fprintf(out, "  %s: %s", field, value)
		}
	}
	fmt.Fprintf(out, "\n    %s\n", strings.TrimSpace(string(body)))
	if resp.StatusCode != c.Want {
		return fmt.Errorf("%s %s: got status %d, want %d", c.Client, c.Path, resp.StatusCode, c.Want)
	}
	return nil
}
