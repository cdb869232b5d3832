package browser

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	desktop = 1280
	phone   = 320
)

func TestFiguresMove(t *testing.T) {
	s := newSite(t)
	s.call("mallory", 5)
	p := open(t, s.url, desktop, "light")
	row := `[data-limit="shop.Shop.Buy#1h"] `
	p.wait(text("#calls") + ` === "5"`)
	p.wait(text(row+"td.refused") + ` === "360%"`)
	before := eval[string](p, `document.querySelector("#total .calls").getAttribute("d")`)
	s.call("mallory", 3)
	s.call("bob", 2)
	p.wait(text("#calls") + ` === "10"`)
	p.wait(text("#refused") + ` === "660%"`)
	p.wait(text(row+"td.calls") + ` === "10"`)
	p.wait(fmt.Sprintf("document.querySelector('#total .calls').getAttribute('d') !== %q", before))
	if got, want := eval[string](p, `document.querySelector("#total svg").getAttribute("aria-label")`), "10 calls in the last minute, 6 refused"; got != want {
		t.Errorf("the chart is called %q, want %q", got, want)
	}
	if got := eval[string](p, text("#keys")); !strings.HasPrefix(got, "#") || !strings.HasSuffix(got, "shop.Shop.Buy#1h6") {
		t.Errorf("the keys are %q, want one hash with 6 refusals", got)
	}
	if whole := eval[string](p, "document.documentElement.outerHTML"); strings.Contains(whole, "mallory") {
		t.Error("the page says who was refused")
	}
	requests, complaints := p.asked()
	for _, url := range requests {
		if !strings.HasPrefix(url, s.url) {
			t.Errorf("the page asks for %s, want nothing outside of %s", url, s.url)
		}
	}
	if len(requests) < 5 || len(complaints) > 0 {
		t.Errorf("the page asks for %q, and the browser complains of %q", requests, complaints)
	}
}

// A pointer on a chart is told what was counted in the second that it is at.
func TestAPointerOnAChart(t *testing.T) {
	s := newSite(t)
	p := open(t, s.url, desktop, "light")
	s.call("a", 5)
	p.wait(text("#calls") + ` === "5"`)
	label := text("#total .top")
	scale := eval[string](p, label)
	box := eval[[]float64](p, `(() => { const b = document.querySelector("#total svg").getBoundingClientRect(); return [b.left, b.right, b.top + b.height / 2] })()`)
	// The calls were in one of the last seconds, or on both sides of its end.
	told := eval[string](p, fmt.Sprintf(`(() => {
		const seen = new Map(), svg = document.querySelector("#total svg");
		for (let x = %f; x > %f; x--) {
			svg.dispatchEvent(new PointerEvent("pointermove", { clientX: x }));
			const [, at, calls, refused] = %s.match(/^(\d\d:\d\d:\d\d): (\d+) calls, (\d+) refused$/) ?? [];
			seen.set(at, [Number(calls ?? 0), Number(refused ?? 0)]);
		}
		return [0, 1].map((i) => [...seen.values()].reduce((sum, n) => sum + n[i], 0)).join(" and ");
	})()`, box[1], box[1]-60, label))
	if told != "5 and 3" {
		t.Errorf("a pointer is told of %s calls and refusals, want 5 and 3", told)
	}
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, box[1]-1, box[2]))
	p.wait(label + ` !== ` + fmt.Sprintf("%q", scale))
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 1, 1))
	p.wait(label + ` === ` + fmt.Sprintf("%q", scale))
}

func TestOutagesAreTold(t *testing.T) {
	s := newSite(t)
	p := open(t, s.url, desktop, "light")
	p.wait(text("#servers") + ` === "No outage since the program began"`)
	s.board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventOutage, Server: "redis-1:6379", Away: true, Err: errors.New("EOF")})
	p.wait(text("[role=alert]") + `.startsWith("redis-1:6379 is away since ")`)
	s.board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventOutage, Server: "redis-1:6379"})
	p.wait(text("[role=alert]") + ` === ""`)
	p.wait(text("#servers") + `.startsWith("redis-1:6379 is back since ")`)
}

// A proxy may answer that the program is away: a browser takes that for the end of a stream.
func TestThePageConnectsAgain(t *testing.T) {
	s := newSite(t)
	var away atomic.Bool
	refused := make(chan bool, 100)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			refused <- true
			http.Error(w, "Bad Gateway", http.StatusBadGateway)
			return
		}
		s.board.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	p := open(t, proxy.URL, desktop, "light")
	away.Store(true)
	proxy.CloseClientConnections()
	p.wait(text("#live") + ` === "no connection, trying again"`)
	s.call("a", 2)
	<-refused
	away.Store(false)
	p.wait(text("#live") + ` === "live"`)
	p.wait(text("#calls") + ` === "2"`)
}

// A browser has six connections to a server. Pages behind others keep none.
func TestManyTabsDoNotStopTheBrowser(t *testing.T) {
	s := newSite(t)
	var streams atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			streams.Add(1)
			defer streams.Add(-1)
		}
		s.board.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p := open(t, server.URL, desktop, "light")
	show := func(shown bool) {
		eval[bool](p, fmt.Sprintf(`Object.defineProperty(document, "hidden", { get: () => %t, configurable: true }), document.dispatchEvent(new Event("visibilitychange"))`, !shown))
	}
	for range 3 {
		show(false)
		for deadline := time.Now().Add(patience); streams.Load() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("a page that nobody sees keeps %d streams, want none", streams.Load())
			}
		}
		s.call("a", 1)
		show(true)
		p.wait(text("#live") + ` === "live"`)
	}
	p.wait(text("#calls") + ` === "3"`)
	if n := streams.Load(); n != 1 {
		t.Errorf("a page that is seen again has %d streams, want 1", n)
	}
}

func TestSortingAndFinding(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"shop.Shop.Ask", "shop.Shop.Sell"} {
		s.limiter.Guard(name, ratelimit.Rule{Key: name, Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
	}
	p := open(t, s.url, desktop, "light")
	const rows = `[...document.querySelectorAll("#rows tr")].filter((r) => !r.hidden).map((r) => r.dataset.limit.slice(10)).join()`
	const sorted = `[...document.querySelectorAll("[aria-sort]")].map((h) => h.textContent + " " + h.ariaSort).join()`
	p.wait(rows + ` === "Ask#1h,Buy#1h,Sell#1h"`)
	s.call("a", 5)
	p.tabTo("Refused")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(rows + ` === "Buy#1h,Ask#1h,Sell#1h"`)
	if got, want := eval[string](p, sorted), "Refused descending"; got != want {
		t.Errorf("the columns say %q, want %q", got, want)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(rows + ` === "Ask#1h,Sell#1h,Buy#1h"`)
	p.do(chromedp.SendKeys("#find", "sEll"))
	p.wait(rows + ` === "Sell#1h"`)
	p.do(chromedp.SendKeys("#find", "z"))
	p.wait(rows + ` === "" && ` + text("#none") + ` === "No limit has “sEllz” in its name." && !document.querySelector("#none").hidden`)
}

// focus says in words what has the focus.
const focus = `(() => {
	const e = document.activeElement;
	return e.getAttribute("aria-label") || e.name || (e === document.body ? "nothing" : e.textContent.trim());
})()`

// tabTo presses Tab until something has the focus, and returns what had it on the way.
func (p *tab) tabTo(name string) (passed []string) {
	p.Helper()
	for range 30 {
		p.do(chromedp.KeyEvent(kb.Tab))
		at := eval[string](p, focus)
		passed = append(passed, at)
		if at == name {
			return passed
		}
	}
	p.Fatalf("Tab reaches %q, not %q", passed, name)
	return nil
}

func TestAPhoneNeedsNoScrollingSideways(t *testing.T) {
	s, overrides := newEditableSite(t)
	s.call("a", 3)
	const gone = "a.very.long.package.path.TheServiceOfAVeryLongName.AMethodThatIsNoLongerThere#1m"
	if err := overrides.Set(t.Context(), gone, &ratelimit.Override{Count: 1}); err != nil {
		t.Fatal(err)
	}
	s.limiter.Guard("a.very.long.package.path.TheServiceOfAVeryLongName.AMethodWhoseNameIsLongerThanAPhoneIsWide",
		ratelimit.Rule{Key: "long", Limit: ratelimit.Limit{Count: 1_000_000_000, Period: 24 * 3600e9, Burst: 999_999_999}})
	p := open(t, s.url, phone, "light")
	p.wait(`document.querySelectorAll(".name").length === 2 && document.querySelector("#keys tr") && !document.querySelector("#mode").hidden && !document.querySelector("#strays").hidden`)
	width := func() int {
		return eval[int](p, `Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility()).map((e) => Math.ceil(e.getBoundingClientRect().right)))`)
	}
	if got := width(); got > phone {
		t.Errorf("the page is %d pixels wide, want at most %d", got, phone)
	}
	for i := range 2 {
		eval[bool](p, fmt.Sprintf(`document.querySelectorAll(".name")[%d].click(), true`, i))
		p.wait(`!document.querySelector("#edit").hidden`)
		if got := width(); got > phone {
			t.Errorf("the page with a limit open is %d pixels wide, want at most %d", got, phone)
		}
		eval[bool](p, `document.querySelector("dialog").close(), true`)
	}
}

// contrast returns the least contrast of a text to what is behind it, see WCAG 2.1, 1.4.3.
const contrast = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const rgb = (over, color) => {
		canvas.fillStyle = over; canvas.fillRect(0, 0, 1, 1);
		canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
		const p = canvas.getImageData(0, 0, 1, 1).data;
		return "rgb(" + p[0] + "," + p[1] + "," + p[2] + ")";
	};
	const light = (color) => {
		const [r, g, b] = color.match(/\d+/g).map((n) => n / 255).map((n) => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const behind = (e) => e ? rgb(behind(e.parentElement), getComputedStyle(e).backgroundColor) : "rgb(255,255,255)";
	let least = [21, ""];
	for (const e of document.querySelectorAll("body *")) {
		const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
		if (!own || !e.checkVisibility() || e.closest("noscript")) continue;
		const back = behind(e), text = rgb(back, getComputedStyle(e).color);
		const [a, b] = [light(back), light(text)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < least[0]) least = [ratio, e.tagName + "." + e.className + " " + e.textContent.trim() + " " + text + " on " + back];
	}
	return least[0].toFixed(2) + " " + least[1];
})()`

func TestDarkAndLight(t *testing.T) {
	s, overrides := newEditableSite(t)
	s.call("a", 9)
	shadow := ratelimit.ModeShadow
	if err := overrides.Set(t.Context(), "shop.Shop.Buy#1h", &ratelimit.Override{Mode: &shadow}); err != nil {
		t.Fatal(err)
	}
	s.board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventOutage, Away: true})
	s.board.Observe(t.Context(), &ratelimit.Event{Kind: ratelimit.EventStoreError, Method: "shop.Shop.Buy"})
	for scheme, want := range map[string]string{"light": "rgb(244, 245, 248)", "dark": "rgb(14, 17, 22)"} {
		t.Run(scheme, func(t *testing.T) {
			p := open(t, s.url, desktop, scheme)
			p.wait(`document.querySelector("#keys tr") && document.querySelector(".badge") && document.querySelector(".news .bad") && document.querySelector("td.failed.some")`)
			if got := eval[string](p, "getComputedStyle(document.body).backgroundColor"); got != want {
				t.Errorf("the page is %s, want %s", got, want)
			}
			for _, of := range []string{"the page", "a limit"} {
				var ratio float64
				least := eval[string](p, contrast)
				if _, err := fmt.Sscan(least, &ratio); err != nil || ratio < 4.5 {
					t.Errorf("the least contrast of %s is %s, want at least 4.5", of, least)
				}
				eval[bool](p, `document.querySelector(".name").click(), true`)
				p.wait(`!document.querySelector("#edit").hidden`)
			}
		})
	}
}
