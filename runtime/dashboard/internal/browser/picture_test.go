package browser

import (
	"bytes"
	"context"
	"flag"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard/internal/shop"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

var update = flag.Bool("update", false, "write docs/dashboard.png")

// TestPicture takes the picture of the README: what the page is told after five minutes of the example, in fake time. The
// figures are the same each time, but for the hashes of keys and how long decisions take.
func TestPicture(t *testing.T) {
	if !*update {
		t.Skip("-update writes docs/dashboard.png")
	}
	var told []byte
	synctest.Test(t, func(t *testing.T) { told = toldOfTheShop(t) })
	board := dashboard.New()
	t.Cleanup(board.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			board.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(told)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close) // after the page is closed
	p := open(t, server.URL, 1100, "light")
	p.do(chromedp.EmulateViewport(1100, 842))
	p.wait(`document.querySelector("#keys tr") && [...document.querySelectorAll(".spark")].every((s) => s.querySelector("path"))`)
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../../../../docs/dashboard.png", small.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// toldOfTheShop returns what the page is told of five minutes.
func toldOfTheShop(t *testing.T) []byte {
	overrides := ratelimit.NewOverrides()
	board := dashboard.New()
	defer board.Close()
	limiter, err := ratelimit.New(far{shop.NewStore()}, ratelimit.Observe(board), ratelimit.LocalStore(memlimit.New()))
	if err != nil {
		t.Fatal(err)
	}
	board.Show(limiter)
	ctx, end := context.WithTimeout(t.Context(), 5*time.Minute+1500*time.Millisecond)
	defer end()
	var load sync.WaitGroup
	defer load.Wait()
	load.Go(func() { shop.Load(ctx, shop.New(limiter), 1) })

	time.Sleep(2*time.Minute + 40*time.Second) // when the store fails
	board.Observe(ctx, &ratelimit.Event{Kind: ratelimit.EventOutage, Server: "redis-1:6379", Away: true})
	time.Sleep(4 * time.Second)
	board.Observe(ctx, &ratelimit.Event{Kind: ratelimit.EventOutage, Server: "redis-1:6379"})
	time.Sleep(time.Minute)
	if err := overrides.Set(ctx, "shop.Shop.Order#1m", &ratelimit.Override{Burst: 8}); err != nil {
		t.Fatal(err)
	}
	if err := limiter.Watch(ctx, overrides); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute + 16*time.Second + 500*time.Millisecond)

	var told bytes.Buffer
	board.ServeHTTP(&writer{&told, http.Header{}}, httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil))
	return told.Bytes()
}

// far is a store in another place of the network.
type far struct{ *shop.Store }

// Take implements [ratelimit.Store].
func (f far) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	const least, spread = 240, 80 // microseconds
	time.Sleep(time.Duration(least+len(charges)*spread) * time.Microsecond)
	return f.Store.Take(ctx, charges, results)
}

type writer struct {
	io.Writer
	header http.Header
}

func (w *writer) Header() http.Header { return w.header }
func (w *writer) WriteHeader(int)     {}
func (w *writer) Flush()              {}
