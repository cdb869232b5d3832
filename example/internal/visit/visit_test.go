package visit

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// An example that is told anything else fails.
func TestWrongAnswersAreErrors(t *testing.T) {
	var out strings.Builder
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Header.Get("X-Forwarded-For"), r.Header.Get("User"))
	})
	err := Server(t.Context(), &out, handler, []Call{
		{"203.0.113.7", "ann", "/a", 200}, {"203.0.113.8", "", "/b", 429}, {"203.0.113.8", "", "/c", 503},
	})
	want := "call 2: 203.0.113.8 /b: got status 200, want 429\ncall 3: 203.0.113.8 /c: got status 200, want 503"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if !strings.Contains(out.String(), "\n    203.0.113.7 ann\n") {
		t.Errorf("printed %s", out.String())
	}
}
