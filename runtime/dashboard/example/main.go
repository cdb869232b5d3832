// Example serves the dashboard of a shop whose limited methods are called all the time, until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard/internal/shop"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to serve the page")
	open := flag.Bool("open", false, "open the page in a browser, if there is one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *addr, *open)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

// run serves the page until ctx ends.
func run(ctx context.Context, out io.Writer, addr string, open bool) error {
	overrides := ratelimit.NewOverrides()
	board := dashboard.New(dashboard.EditWith(overrides, visitor))
	defer board.Close()
	troubles := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})) // and no refusals, which the page shows
	limiter, err := ratelimit.New(shop.NewStore(), ratelimit.Observe(board, ratelimit.Log(troubles)), ratelimit.LocalStore(memlimit.New()))
	if err != nil {
		return err
	}
	board.Show(limiter)
	if err := limiter.Watch(ctx, overrides); err != nil {
		return err
	}

	mux := http.NewServeMux()
	mux.Handle("/ratelimit/", http.StripPrefix("/ratelimit", board))
	mux.Handle("/{$}", http.RedirectHandler("/ratelimit/", http.StatusFound))

	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String() + "/ratelimit/"
	fmt.Fprintf(out, "%s shows the limits of a shop under load. Interrupt to end.\n", url)
	if open {
		openBrowser(ctx, url)
	}

	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	shop.Load(ctx, shop.New(limiter), 1)
	if err := server.Shutdown(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// visitor lets whoever opens the page on this machine change limits; elsewhere ask who it is. Other sites may give their own
// names the address of this machine, so that a browser takes their pages for this one: those names are not let in.
func visitor(r *http.Request) (who string, ok bool) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil { // it has no port
		host = strings.Trim(r.Host, "[]")
	}
	addr, err := netip.ParseAddr(host)
	return "you", host == "localhost" || err == nil && addr.IsLoopback()
}

// openBrowser does without where there is none.
func openBrowser(ctx context.Context, url string) {
	command := "xdg-open"
	if runtime.GOOS == "darwin" {
		command = "open"
	}
	_ = exec.CommandContext(ctx, command, url).Start() //nolint:gosec // the url is that of this program
}
