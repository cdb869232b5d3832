package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// serviceCommand is the argument that makes this program a process of the service. The addresses of the cluster follow.
const serviceCommand = "service"

const (
	requestTimeout  = 5 * time.Second  // for a client to send a request, and for its answer
	idleTimeout     = 2 * time.Minute  // for the next request on a connection
	shutdownTimeout = 10 * time.Second // for requests that are being answered when the process is to end
)

// serve is one process of the service. It prints its address, and serves until ctx ends.
func serve(ctx context.Context, out io.Writer, cluster []string) error {
	log.SetFlags(0)   // whoever reads the lines knows when they come
	logging.Disable() // go-redis has a line for each connection that fails; one for each outage will do
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster})
	defer func() { _ = client.Close() }() // nothing is under way any more
	store := redislimit.New(client)
	// It says what Redis would refuse to do, and has connected when the first call comes.
	if err := store.Check(ctx); err != nil {
		return err
	}
	limiter, err := ratelimit.New(store, ratelimit.Instances(processes), ratelimit.LocalStore(telling{store.Local()}))
	if err != nil {
		return err
	}

	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           handler(limiter),
		ReadHeaderTimeout: requestTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       idleTimeout,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintln(out, listener.Addr())

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

// untilClosed returns a context that ends when in does: it is a pipe from the process that started this one, and ends
// with it, whatever became of it.
func untilClosed(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	return ctx, cancel
}
