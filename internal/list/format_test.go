package list

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func write(t *testing.T, format string, limits ...Limit) string {
	t.Helper()
	var text strings.Builder
	if err := Write(&text, format, limits); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOptionsReadAsInTheDirective(t *testing.T) {
	free := int64(0)
	l := Limit{
		Algorithm: "token-bucket", Count: 5, Time: "1s", Burst: 7, Refill: "interval", Cost: &free, Skip: "id == 0", Refund: "err == nil",
		Wait: "1m30s", Fallback: "Cached", Fail: "open", Mode: "shadow", OnEmpty: "share", Prefetch: 2, Status: 503, Message: "later",
	}
	compare(t, strings.Join(l.options(), " "), "burst=7 refill=interval cost=0 skip={id == 0} refund={err == nil} wait=1m30s fallback=Cached "+
		"fail=open mode=shadow onempty=share prefetch=2 status=503")
	compare(t, strings.Join(Limit{Algorithm: "concurrency", Count: 5, Time: "30s", CostExpression: "len(ids)"}.options(), " "),
		"time=30s cost={len(ids)}")
}

func TestOverridesCanBeReadBack(t *testing.T) {
	text := write(t, "yaml",
		Limit{ID: "användare.Ü.Get#1s", Count: 5, Time: "1s", Algorithm: "token-bucket", File: "a b/ü: #1.go", Line: 3},
		Limit{
			ID: "u.S.Get#all", Count: 1_000_000_000, Time: "366d", Burst: 7, Mode: "off", Fail: "open", Algorithm: "leaky-bucket",
			Per: []string{"ip", `{m["a: # b"]}`}, File: "u.go", Line: 9,
		},
	)
	compare(t, text, `# Limits by their ids, as the directives have them: a file of overrides to start with.
# Delete what is not to be overridden. What stays holds from then on, whatever the directives say.
# What else a directive says, such as prefetch and wait, cannot be overridden. A limit may also have
# "callers", a list of entries for some of them, each with "by", such as {user: ann}, and its own fields.
limits:
  # a b/ü: #1.go:3: 5 per 1s (token-bucket)
  användare.Ü.Get#1s:
    count: 5
    time: 1s
  # u.go:9: 1000000000 per 366d for each ip, {m["a: # b"]} (leaky-bucket)
  u.S.Get#all:
    count: 1000000000
    time: 366d
    burst: 7
    mode: "off"
    fail: open
`)
	var got map[string]map[string]map[string]any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]map[string]any{"limits": {
		"användare.Ü.Get#1s": {"count": 5, "time": "1s"},
		"u.S.Get#all":        {"count": 1_000_000_000, "time": "366d", "burst": 7, "mode": "off", "fail": "open"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// Packages of one name may have limits of one id. A YAML file with one key twice cannot be read.
func TestLimitsOfOneIDHaveOneOverride(t *testing.T) {
	a := Limit{ID: "u.S.Get#1s", Count: 5, Time: "1s", Algorithm: "token-bucket", File: "a.go", Line: 3}
	b := a
	b.File = "b.go"
	const head = "# Limits by their ids, as the directives have them: a file of overrides to start with.\n" +
		"# Delete what is not to be overridden. What stays holds from then on, whatever the directives say.\n" +
		"# What else a directive says, such as prefetch and wait, cannot be overridden. A limit may also have\n" +
		"# \"callers\", a list of entries for some of them, each with \"by\", such as {user: ann}, and its own fields.\nlimits:\n"
	compare(t, write(t, "yaml", a, b), head+`  # a.go:3: 5 per 1s (token-bucket)
  # b.go:3: 5 per 1s (token-bucket)
  # What stands here holds for all of these.
  u.S.Get#1s:
    count: 5
    time: 1s
`)
	b.Count = 6
	compare(t, write(t, "yaml", a, b), head+`  # a.go:3: 5 per 1s (token-bucket)
  # b.go:3: 6 per 1s (token-bucket)
  # What stands here holds for all of these.
  u.S.Get#1s: {}
`)
}

func TestMarkdownOfOddKeys(t *testing.T) {
	for text, want := range map[string]string{
		"a|b":           "`a\\|b`",
		"{m[`x`]}":      "`` {m[`x`]} ``",
		"{m[`` + `x`]}": "``` {m[`` + `x`]} ```",
		"a_b*c<d>":      "`a_b*c<d>`",
	} {
		compare(t, code(text), want)
	}
}
