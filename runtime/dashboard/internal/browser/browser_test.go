package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

const (
	// patience is how long one thing on a page may take, where the machine has much else to do.
	patience = 30 * time.Second
	// lifetime is how long a page may take altogether.
	lifetime = 3 * time.Minute
)

// browser starts one for all tests. The context is nil if there is none on this machine.
var browser = sync.OnceValues(func() (context.Context, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.WSURLReadTimeout(2*patience))
		if os.Getuid() == 0 {
			options = append(options, chromedp.NoSandbox) // root has none
		}
		allocator, _ := chromedp.NewExecAllocator(context.Background(), options...) // ended by TestMain
		ctx, _ := chromedp.NewContext(allocator)
		return ctx, chromedp.Do(ctx)
	}
	return nil, nil
})

// browsed is set once the browser was asked for.
var browsed bool

func TestMain(m *testing.M) {
	code := m.Run()
	if browsed {
		if ctx, _ := browser(); ctx != nil {
			_ = chromedp.Cancel(ctx) // waits until it has ended
		}
	}
	os.Exit(code)
}

// tab is a page in the browser.
type tab struct {
	*testing.T
	ctx context.Context
	url string

	mu     sync.Mutex
	events []any
}

// open opens a page of a width.
func open(t *testing.T, url string, width int64, scheme string) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("browsers take long")
	}
	browsed = true
	chromium, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	if chromium == nil {
		t.Skip("there is no chromium: Debian and Ubuntu have it as a package")
	}
	ctx, cancel := chromedp.NewContext(chromium)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, lifetime)
	t.Cleanup(cancel)
	p := &tab{T: t, ctx: ctx, url: url}
	err = chromedp.Listen(ctx, func(e any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.events = append(p.events, e)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(width, 800))
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(url))
	p.wait(`document.querySelector("#live").dataset.state === "live"`)
	return p
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// wait waits until an expression holds.
func (p *tab) wait(expression string) {
	p.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience)))
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), time.Second)
		defer cancel()
		seen, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
		p.Fatalf("%s does not become true: %v\n%s", expression, err, seen)
	}
}

// eval returns the value of an expression.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// asked returns the URLs that were asked for, and what the browser or the page complained about.
func (p *tab) asked() (urls, complaints []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			urls = append(urls, e.Request.URL)
		case *log.EventEntryAdded:
			complaints = append(complaints, e.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprintf("console.%s", e.Type))
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		}
	}
	return urls, complaints
}

// site is a program with the page below /ratelimit/, and one limit of two calls a minute for each user.
type site struct {
	*testing.T
	board   *dashboard.Dashboard
	limiter *ratelimit.Limiter
	guard   *ratelimit.Guard
	url     string
}

func newSite(t *testing.T, opts ...dashboard.Option) *site {
	t.Helper()
	board := dashboard.New(opts...)
	t.Cleanup(board.Close)
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe(board))
	if err != nil {
		t.Fatal(err)
	}
	board.Show(limiter)
	mux := http.NewServeMux()
	mux.Handle("/ratelimit/", http.StripPrefix("/ratelimit", board))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	guard := limiter.Guard("shop.Shop.Buy", ratelimit.Rule{
		Key: "buy:{@user}", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 2, Period: time.Hour},
	})
	return &site{t, board, limiter, guard, server.URL + "/ratelimit/"}
}

// newEditableSite returns a site whose limits everyone may change, and the overrides.
func newEditableSite(t *testing.T) (*site, *ratelimit.LocalOverrides) {
	t.Helper()
	overrides := ratelimit.NewOverrides()
	s := newSite(t, dashboard.EditWith(overrides, func(*http.Request) (string, bool) { return "ann", true }))
	if err := s.limiter.Watch(t.Context(), overrides); err != nil {
		t.Fatal(err)
	}
	return s, overrides
}

// call calls n times and returns how many calls went on.
func (s *site) call(user string, n int) (allowed int) {
	for range n {
		if s.guard.Allow(ratelimit.WithCaller(s.Context(), "user", user)) == nil {
			allowed++
		}
	}
	return allowed
}

func text(selector string) string {
	return fmt.Sprintf("document.querySelector(%q).textContent", selector)
}
