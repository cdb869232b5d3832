// Quickstart runs a small HTTP service whose calls are limited by generated decorators, calls it as two clients, and
// shows what they are told. It exits with status 0 only if each client was limited as the directives say.
//
// The buckets live in this process's memory, or in Redis if REDIS_URL is set.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Getenv("REDIS_URL"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run serves on a free loopback port and calls the server.
func run(ctx context.Context, out io.Writer, redisURL string) error {
	store, where, closeStore, err := openStore(ctx, redisURL)
	if err != nil {
		return err
	}
	defer closeStore()
	limiter, err := ratelimit.New(store)
	if err != nil {
		return err
	}

	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler(limiter), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends by Close
	}()
	fmt.Fprintf(out, "Serving on http://%s, buckets in %s.\n", listener.Addr(), where)

	err = demo(ctx, out, "http://"+listener.Addr().String())
	_ = server.Close() // it serves nobody but the demo
	<-served
	return err
}

// openStore returns a Store, where it keeps its buckets, and what closes it.
func openStore(ctx context.Context, redisURL string) (store ratelimit.Store, where string, closeStore func(), err error) {
	if redisURL == "" {
		return memlimit.New(), "memory", func() {}, nil
	}
	opts, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, "", nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	client := redis.NewClient(opts)
	if err := client.Ping(ctx).Err(); err != nil {
		_ = client.Close() // it has not even connected
		return nil, "", nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	// A prefix of its own keeps a run from meeting the buckets of the one before.
	prefix := "quickstart-" + rand.Text() + ":"
	return redislimit.New(client, redislimit.Prefix(prefix)), "Redis at " + opts.Addr, func() { _ = client.Close() }, nil
}
