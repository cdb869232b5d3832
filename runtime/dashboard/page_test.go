package dashboard_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
)

// logTo has the log written to w as JSON until the test ends.
func logTo(t *testing.T, w io.Writer) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(w, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
}

func TestFilesOfThePage(t *testing.T) {
	board := dashboard.New()
	defer board.Close()
	files, err := os.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
	names := []string{""}
	for _, f := range files {
		names = append(names, f.Name())
	}
	for _, name := range names {
		w := httptest.NewRecorder()
		board.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+name, nil))
		_, suffix, _ := strings.Cut(name, ".")
		if suffix == "" {
			suffix = "html"
		}
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != types[suffix] {
			t.Errorf("/%s: %d %s, want 200 %s", name, w.Code, got, types[suffix])
		}
		const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
		for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("/%s: %s %q, want %q", name, name, got, want)
			}
		}
		again := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+name, nil)
		again.Header.Set("If-None-Match", w.Header().Get("ETag"))
		if status, _ := serve(board, again); status != http.StatusNotModified {
			t.Errorf("/%s: %d to who has it, want 304", name, status)
		}
		// What the policy would keep from the page, or a path before it would break.
		if found := regexp.MustCompile(`(?i) style=| on[a-z]+=|<style|<script[^>]*>[^<]|(href|src)="(/|https?:)`).FindString(w.Body.String()); found != "" {
			t.Errorf("/%s has %q", name, found)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	board := dashboard.New()
	defer board.Close()
	for target, want := range map[string]int{
		"GET /nothing": 404, "GET /page/index.html": 404, "GET /../dashboard.go": 404, "POST /": 405, "POST /events": 405, "DELETE /style.css": 405,
	} {
		method, path, _ := strings.Cut(target, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
		r.URL.Path = path
		if status, _ := serve(board, r); status != want && status != http.StatusTemporaryRedirect && status != http.StatusMovedPermanently {
			t.Errorf("%s is answered %d, want %d", target, status, want)
		}
	}
}

// The README's code is that of the example, which is compiled and run.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```")
	if len(blocks) != 5 {
		t.Fatalf("the README has %d blocks of code, want 2", len(blocks)/2)
	}
	for _, block := range []string{blocks[1], blocks[3]} {
		code, _ := strings.CutPrefix(block, "go\n")
		if !strings.HasPrefix(code, "func ") {
			code = "\t" + strings.ReplaceAll(strings.TrimSuffix(code, "\n"), "\n", "\n\t")
		}
		if !strings.Contains(string(example), code) {
			t.Errorf("example_test.go lacks what the README says:\n%s", code)
		}
	}
}

// A program whose secret nobody has set lets nobody in, least of all those who give none: "" is equal to "".
func TestTheOperatorOfTheREADMEWithoutASecret(t *testing.T) {
	for _, secret := range []string{"", "s3cret"} {
		t.Setenv("OPERATOR", secret)
		for _, password := range []string{"", "guess", "s3cret"} {
			r := request("GET", "/", "")
			r.SetBasicAuth("ann", password)
			want := secret != "" && password == secret
			if _, ok := operator(r); ok != want {
				t.Errorf("with the secret %q and the password %q the operator is let in: %t, want %t", secret, password, ok, want)
			}
			r.Header.Del("Authorization")
			if _, ok := operator(r); ok {
				t.Errorf("with the secret %q who gives no password is let in", secret)
			}
		}
	}
}
