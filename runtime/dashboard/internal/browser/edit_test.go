package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
)

func TestAnOverrideByKeyboard(t *testing.T) {
	s, overrides := newEditableSite(t)
	p := open(t, s.url, desktop, "light")
	p.wait(`!document.querySelector("#mode").hidden && document.querySelector(".name")`)
	if got := s.call("a", 9); got != 2 {
		t.Fatalf("%d calls go on before the change, want 2", got)
	}

	want := []string{"To the limits", "mode", "Set", "Find a method", "Limit", "Calls a minute", "Refused", "Store errors", "shop.Shop.Buy1h"}
	if got := p.tabTo("shop.Shop.Buy1h"); !slices.Equal(got, want) {
		t.Errorf("Tab goes to %q, want %q", got, want)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(`document.querySelector("dialog").open && !document.querySelector("#edit").hidden`)
	p.tabTo("count")
	p.do(chromedp.KeyEvent("5" + kb.Enter))
	p.wait(text("#answer") + ` === "Saved."`)
	if got := s.call("b", 9); got != 5 {
		t.Errorf("%d calls go on after Saved, want 5", got)
	}
	p.wait(text("#limit-rule") + ` === "Holds: 5 per 1h, fixed-window, mode enforce. Directive: 2 per 1h, fixed-window, mode enforce."`)

	p.do(chromedp.KeyEvent(kb.Escape))
	p.wait(`!document.querySelector("dialog").open`)
	if got := eval[string](p, focus); got != "shop.Shop.Buy1h" {
		t.Errorf("after Escape the focus is on %q, want where it was", got)
	}
	p.wait(text(".badges") + ` === "overridden"`)

	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(`document.querySelector("dialog").open && !document.querySelector("#edit").hidden`)
	if got := eval[string](p, "document.forms.edit.elements.count.value"); got != "5" {
		t.Errorf("the form has the count %q, want that of the override, 5", got)
	}
	p.tabTo("Remove the override")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(text("#remove") + ` === "Really remove"`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(text("#answer") + ` === "The directive holds again."`)
	if got := s.call("c", 9); got != 2 {
		t.Errorf("%d calls go on after the override was removed, want 2", got)
	}
	if all, _ := overrides.Load(t.Context()); len(all.Limits) != 0 {
		t.Errorf("the store still has %v", all.Limits)
	}
}

func TestOverridesOfCallersAndOfAll(t *testing.T) {
	s, _ := newEditableSite(t)
	p := open(t, s.url, desktop, "light")
	p.wait(`!document.querySelector("#mode").hidden && document.querySelector(".name")`)
	p.do(chromedp.Click(".name"))
	p.wait(`!document.querySelector("#edit").hidden`)
	fill := func(name, value string) {
		eval[string](p, fmt.Sprintf("document.forms.edit.elements[%q].value = %q", name, value))
	}
	save := func(answer string) {
		t.Helper()
		eval[string](p, text("#answer")+` = ""`) // or that of the time before would do
		p.do(chromedp.Click("#edit .main"))
		p.wait(text("#answer") + fmt.Sprintf(".startsWith(%q)", answer))
	}
	fill("count", "1")
	fill("callers", `[{"by": {"user": "vip"}, "count": 8}]`)
	save("Saved.")
	if vip, other := s.call("vip", 9), s.call("a", 9); vip != 8 || other != 1 {
		t.Errorf("%d calls of a vip and %d of another go on, want 8 and 1", vip, other)
	}
	fill("count", "")
	save("Saved.") // and keeps what it says of callers
	if vip, other := s.call("vip", 9), s.call("b", 9); vip != 0 || other != 2 {
		t.Errorf("%d further calls of a vip and %d of another go on, want none and 2", vip, other)
	}
	fill("burst", "9") // which a browser hides for this algorithm
	save("ratelimit: override of shop.Shop.Buy#1h: burst is 9: fixed-window has no burst")
	fill("callers", "vip")
	save(`For some callers: ` + eval[string](p, `(() => { try { JSON.parse("vip") } catch (e) { return e.message } })()`))

	p.do(chromedp.Click("#close"))
	p.choose("off")
	p.do(chromedp.Click("#mode button"))
	p.wait(text("#mode [role=status]") + ` === "No call will be limited."`)
	p.do(chromedp.Click("#mode button"))
	p.wait(text("#mode [role=status]") + ` === "Set."`)
	if got := s.call("c", 9); got != 9 {
		t.Errorf("%d calls go on with all limits off, want 9", got)
	}
	p.wait(text(".badges") + ` === "overriddenfor some callersoff" && ` + text("#all-mode") + ` === "all off"`)
}

func TestNothingCanBeChangedWithoutAnAuthorizer(t *testing.T) {
	s := newSite(t)
	p := open(t, s.url, desktop, "light")
	p.wait(`document.querySelector(".name")`)
	p.do(chromedp.Click(".name"))
	p.wait(text("#no-edit") + ` === "Limits cannot be changed here."`)
	if eval[bool](p, `document.querySelector("#edit").checkVisibility() || document.querySelector("#mode").checkVisibility()`) {
		t.Error("there is a form")
	}
	for _, target := range []string{"override?limit=shop.Shop.Buy%231h", "mode"} {
		status := eval[int](p, fmt.Sprintf(`fetch(%q, {method: "PUT", headers: {"Content-Type": "application/json"}, body: '{"count": 9}'}).then((r) => r.status)`, target))
		if status != http.StatusNotFound {
			t.Errorf("PUT %s is answered %d, want 404", target, status)
		}
	}
	if got := s.call("a", 9); got != 2 {
		t.Errorf("%d calls go on, want 2", got)
	}
}

// A page of another site that an operator has open changes nothing, whatever it sends.
func TestOtherSitesChangeNothing(t *testing.T) {
	s, overrides := newEditableSite(t)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<div id="live" data-state="live"></div>`)
	}))
	defer evil.Close()
	p := open(t, evil.URL, desktop, "light")
	for _, init := range []string{
		`{method: "PUT", headers: {"Content-Type": "application/json"}, body: '{"count": 9}'}`,
		`{method: "PUT", body: '{"count": 9}'}`,
		`{method: "DELETE"}`,
		`{method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: '{"count": 9}'}`,
	} {
		if err := overrides.Set(t.Context(), "shop.Shop.Buy#1h", &ratelimit.Override{Count: 3}); err != nil {
			t.Fatal(err)
		}
		got := eval[string](p, fmt.Sprintf(`fetch(%q, %s).then((r) => r.type + r.status, (e) => "failed")`, s.url+"override?limit=shop.Shop.Buy%231h", init))
		if got != "failed" {
			t.Errorf("%s: the other page is told %s, want nothing", init, got)
		}
		if all, _ := overrides.Load(t.Context()); all.Limits["shop.Shop.Buy#1h"].Count != 3 {
			t.Errorf("%s has changed the overrides: %v", init, all.Limits)
		}
	}
	if got := eval[string](p, fmt.Sprintf(`fetch(%q).then((r) => r.text(), (e) => "failed")`, s.url+"overrides")); got != "failed" {
		t.Errorf("the other page reads %s, want nothing", got)
	}
}

// choose chooses a mode of all, as a user would.
func (p *tab) choose(mode string) {
	p.Helper()
	eval[bool](p, fmt.Sprintf(`document.forms.mode.elements.mode.value = %q, document.forms.mode.elements.mode.dispatchEvent(new Event("change"))`, mode))
}

// edit opens the form of the limit.
func (p *tab) edit() {
	p.Helper()
	p.wait(`document.querySelector(".name") && document.forms.mode.checkVisibility()`) // or that would move the limit away
	p.do(chromedp.Click(".name"))
	p.wait(`document.querySelector("dialog").open && !document.querySelector("#edit").hidden`)
}

// save saves the form with a value in a field, and waits for the answer.
func (p *tab) save(field, value, answer string) {
	p.Helper()
	eval[string](p, fmt.Sprintf(`document.forms.edit.elements[%q].value = %q`, field, value))
	eval[string](p, text("#answer")+` = ""`)
	p.do(chromedp.Click("#edit .main"))
	p.wait(text("#answer") + fmt.Sprintf(" === %q", answer))
}

func TestTwoTabsDoNotUndoEachOther(t *testing.T) {
	s, overrides := newEditableSite(t)
	first, second := open(t, s.url, desktop, "light"), open(t, s.url, desktop, "light")
	first.edit()
	second.edit()
	first.save("count", "9", "Saved.")
	second.save("mode", "shadow", `The change was not made: somebody else has changed the override meanwhile, to {"count":9}. Open the limit again to go on from there.`)
	if !eval[bool](second, `document.querySelector("#answer").classList.contains("bad")`) {
		t.Error("the refusal looks like a success")
	}
	if all, _ := overrides.Load(t.Context()); all.Limits["shop.Shop.Buy#1h"].Count != 9 {
		t.Errorf("the store has %+v, want what the first has saved", all.Limits["shop.Shop.Buy#1h"])
	}
	second.do(chromedp.Click("#close"))
	second.edit()
	second.save("mode", "shadow", "Saved.")
	if all, _ := overrides.Load(t.Context()); all.Limits["shop.Shop.Buy#1h"].Count != 9 || all.Limits["shop.Shop.Buy#1h"].Mode == nil {
		t.Errorf("the store has %+v, want what both have saved", all.Limits["shop.Shop.Buy#1h"])
	}
}

func TestWhatIsStoredButDoesNotHoldIsNotCalledSaved(t *testing.T) {
	s, _ := newEditableSite(t)
	later := &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{"shop.Shop.Buy#1h": {Count: 3}}}
	if err := s.limiter.Override(later); err != nil {
		t.Fatal(err)
	}
	p := open(t, s.url, desktop, "light")
	p.edit()
	const but = "Stored, but count 3, time 1h, mode enforce holds: something else goes before it, the store has what cannot be taken, or the program does not go by it."
	p.save("count", "50", but)
	p.do(chromedp.Click("#remove"))
	p.wait(text("#remove") + ` === "Really remove"`)
	eval[string](p, text("#answer")+` = ""`)
	p.do(chromedp.Click("#remove"))
	p.wait(text("#answer") + fmt.Sprintf(" === %q", but))
}

// entry is a store that cannot be read as long as it has a broken entry, or is away.
type entry struct {
	*ratelimit.LocalOverrides
	broken, away atomic.Bool
}

var errBroken = errors.New(`field "shop.Shop.Gone#1m" is broken`)

func (e *entry) Load(ctx context.Context) (*ratelimit.Overrides, error) {
	if e.broken.Load() || e.away.Load() {
		return nil, errBroken
	}
	return e.LocalOverrides.Load(ctx)
}

func (e *entry) Set(ctx context.Context, limit string, o *ratelimit.Override) error {
	if limit == "shop.Shop.Gone#1m" && o == nil {
		e.broken.Store(false)
	}
	return e.LocalOverrides.Set(ctx, limit, o)
}

func newEntrySite(t *testing.T) (*site, *entry) {
	t.Helper()
	store := &entry{LocalOverrides: ratelimit.NewOverrides()}
	s := newSite(t, dashboard.EditWith(store, func(*http.Request) (string, bool) { return "ann", true }))
	if err := s.limiter.Watch(t.Context(), store.LocalOverrides); err != nil {
		t.Fatal(err)
	}
	return s, store
}

func TestEntriesThatAreBrokenOrOfNoLimitAreRemoved(t *testing.T) {
	s, store := newEntrySite(t)
	if err := store.LocalOverrides.Set(t.Context(), "shop.Shop.Old#1m", &ratelimit.Override{Count: 3}); err != nil {
		t.Fatal(err)
	}
	store.broken.Store(true)
	p := open(t, s.url, desktop, "light")
	p.wait(text("#strays .note") + ` === 'The overrides cannot be read: field "shop.Shop.Gone#1m" is broken'`)
	p.edit()
	if eval[bool](p, `document.querySelector("#edit .main").checkVisibility() || document.querySelector("#edit .fields").checkVisibility()`) {
		t.Error("what could not be read can be saved")
	}
	p.wait(text("#answer") + ` === 'The overrides cannot be read: field "shop.Shop.Gone#1m" is broken'`)
	p.do(chromedp.Click("#close"))

	p.do(chromedp.SendKeys("#strays input", "shop.Shop.Gone#1m"))
	for range 2 {
		p.do(chromedp.Click("#strays form button"))
	}
	p.wait(`document.querySelector("#strays ul").textContent === "shop.Shop.Old#1mRemove" && document.querySelector("#strays form").hidden`)
	for range 2 {
		p.do(chromedp.Click("#strays li button"))
	}
	p.wait(`document.querySelector("#strays").hidden`)
	if all, _ := store.Load(t.Context()); all == nil || len(all.Limits) != 0 {
		t.Errorf("the store has %+v, want nothing", all)
	}
}

// The mode of all is shown to all, is that of the store in each tab, and can be enforce, which lifts what the program says.
func TestTheModeOfAll(t *testing.T) {
	s, store := newEntrySite(t)
	shadow := ratelimit.ModeShadow
	if err := store.SetMode(t.Context(), &shadow); err != nil {
		t.Fatal(err)
	}
	store.away.Store(true)
	p := open(t, s.url, desktop, "light")
	p.wait(text("#all-mode") + ` === "all in shadow" && !document.querySelector("#strays").hidden`)
	store.away.Store(false)
	p.wait(`document.forms.mode.checkVisibility() && document.forms.mode.elements.mode.value === "shadow"`)
	other := open(t, s.url, desktop, "light")
	other.wait(`document.forms.mode.elements.mode.value === "shadow"`)

	p.choose("enforce")
	p.do(chromedp.Click("#mode button"))
	p.wait(text("#mode [role=status]") + ` === "Set." && document.querySelector("#all-mode").hidden`)
	other.wait(`document.forms.mode.elements.mode.value === "enforce" && document.querySelector("#all-mode").hidden`)
	if all, _ := store.Load(t.Context()); all.Mode == nil || *all.Mode != ratelimit.ModeEnforce {
		t.Errorf("the store has the mode %v, want enforce", all.Mode)
	}
	p.choose("shadow")
	if got := eval[string](p, text("#mode [role=status]")); got != "" {
		t.Errorf("after another choice it still says %q", got)
	}
	p.choose("enforce") // which is stored, so that nothing is chosen any more
	if err := store.SetMode(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	p.wait(`document.forms.mode.elements.mode.value === ""`)
}
