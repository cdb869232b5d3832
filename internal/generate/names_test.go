package generate

import (
	"go/parser"
	"go/types"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLowerFirst(t *testing.T) {
	for name, want := range map[string]string{
		"TestGet": "testGet",
		"ID":      "id",
		"HTTPGet": "httpGet",
		"GetURL":  "getURL",
		"X":       "x",
		"already": "already",
		"Ärger":   "ärger",
		"_X":      "_X",
	} {
		if got := lowerFirst(name); got != want {
			t.Errorf("lowerFirst(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestLastWord(t *testing.T) {
	for name, want := range map[string]string{
		"TestService": "Service",
		"UserID":      "ID",
		"API":         "API",
		"ReaderV2":    "V2",
		"runner":      "runner",
		"fileReader":  "Reader",
		"ЗаказID":     "ID",
		"заказ":       "заказ",
		"НовыйЗаказ":  "Заказ",
		"世界":          "世界",
	} {
		if got := lastWord(name); got != want {
			t.Errorf("lastWord(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for noun, want := range map[string]string{
		"option": "options", "address": "addresses", "box": "boxes", "entry": "entries", "key": "keys", "match": "matches",
	} {
		if got := plural(noun); got != want {
			t.Errorf("plural(%q) is %q, want %q", noun, got, want)
		}
	}
}

// What holds plurals has the name of one of them.
func TestElementsName(t *testing.T) {
	text, bytes := types.Typ[types.String], types.NewSlice(types.Universe.Lookup("byte").Type())
	for _, test := range []struct {
		elem types.Type
		want string
	}{
		{text, "values"},
		{types.Universe.Lookup("byte").Type(), "data"},
		{bytes, "data"},
		{types.NewSlice(text), "values"},
		{types.NewArray(text, 2), "values"},
		{types.NewMap(text, text), "entries"},
	} {
		if got := elementsName(test.elem, false); got != test.want {
			t.Errorf("elements of type %s are called %s, want %s", test.elem, got, test.want)
		}
	}
}

func TestVariableName(t *testing.T) {
	for expr, want := range map[string]string{
		"id":                           "id",
		"req.ID":                       "reqID",
		"req.UserID":                   "userID",
		"req.User.ID":                  "userID",
		"req.Region":                   "region",
		"p.X":                          "pX",
		"req.GetUser()":                "user",
		"req.GetUser().GetName()":      "userName",
		"tenantOf(ctx)":                "tenant",
		"store.TenantFrom(ctx)":        "tenant",
		"strings.ToLower(req.Kind)":    "reqKind",
		"string(token)":                "token",
		"string(req.Token[:8])":        "token",
		"load(ctx)":                    "load",
		"req.Items[0]":                 "item",
		"req.Entries[i].ID":            "entryID",
		"req.Address[1:]":              "address",
		"*name":                        "name",
		"-(n)":                         "n",
		"a + b":                        "part",
		`"x"`:                          "part",
		"(*req.Link).Host":             "linkHost",
		"func() string { return x }()": "part",
		"m.Get(k)":                     "get", // a verb alone
		"HTTPHost":                     "httpHost",
	} {
		node, err := parser.ParseExpr(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := variableName(node); got != want {
			t.Errorf("the value of %s is called %s, want %s", expr, got, want)
		}
	}
}

func TestDurationWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Millisecond:           "1ms",
		1500 * time.Millisecond:    "1s500ms",
		90 * time.Second:           "1m30s",
		10 * time.Minute:           "10m",
		2 * time.Hour:              "2h",
		24*time.Hour + time.Second: "24h1s",
	} {
		if got := DurationText(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPick(t *testing.T) {
	taken := scope{"next": true, "nextGuard": true, "err": true}
	for _, step := range []struct {
		candidates []string
		want       string
	}{
		{[]string{"get"}, "get"},
		{[]string{"get"}, "get2"},
		{[]string{"get"}, "get3"},
		{[]string{"next", "inner"}, "inner"},
		{[]string{"next", "nextGuard"}, "nextGuard2"},
		{[]string{"type", "t"}, "t"}, // a keyword
		{[]string{"_", "2x", "T"}, "T"},
		{[]string{"2x"}, "v2"}, // no number would make it an identifier
		{[]string{"\xb7x", ""}, "v3"},
		{[]string{"世界"}, "世界"},
	} {
		if got := taken.pick(step.candidates...); got != step.want {
			t.Errorf("pick(%q) is %q, want %q", step.candidates, got, step.want)
		}
	}
}

// The rule is that of goimports, so that it leaves generated files as they are.
func TestAssumedName(t *testing.T) {
	for path, want := range map[string]string{
		"context":                        "context",
		"net/http":                       "http",
		"math/rand/v2":                   "rand",
		"v2":                             "v2",
		"k8s.io/api/core/v1":             "core",
		"github.com/redis/go-redis/v9":   "redis",
		"gopkg.in/yaml.v3":               "yaml",
		"example.com/go-widget":          "widget",
		"example.com/2020-01-01/service": "service",
		"example.com/with_underscore":    "with_underscore",
		runtimePath:                      "runtime",
	} {
		if got := assumedName(path); got != want {
			t.Errorf("assumedName(%q) is %q, want %q", path, got, want)
		}
	}
}

func TestAliases(t *testing.T) {
	for path, want := range map[string]string{
		"time":                      "stdtime",
		"example.com/apps/v1":       "appsv1",
		"example.com/Some-Apps/v1":  "someappsv1",
		"example.com/2020-02-01/v1": "v120200201", // no identifier begins with a digit
		"example.com/--/v1":         "v1",
		"example.com/--/string":     "string",
		runtimePath:                 "ratelimitgen",
	} {
		if got := (scope{}).pick(aliases(path, lastOf(path))...); got != want {
			t.Errorf("the alias of %q is %q, want %q", path, got, want)
		}
	}
}

func lastOf(importPath string) string { return importPath[strings.LastIndex(importPath, "/")+1:] }

func TestComment(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for _, test := range []struct {
		text string
		want []string
	}{
		{"Get calls.", []string{"// Get calls."}},
		{long, []string{"// " + strings.Repeat("word ", 22) + "word", "// " + strings.Repeat("word ", 6) + "word"}},
		{"Limits:\n  - one\n  - " + long, []string{
			"// Limits:", "//   - one", "//   - " + strings.Repeat("word ", 21) + "word", "//     " + strings.Repeat("word ", 7) + "word",
		}},
	} {
		if got := comment(0, test.text); !slices.Equal(got, test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
