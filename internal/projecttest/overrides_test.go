package projecttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/list"
	"github.com/ratelimitgen/ratelimitgen/internal/overrides"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	runtimeoverrides "github.com/ratelimitgen/ratelimitgen/runtime/overrides"
)

// A period is written in an override as it is in a directive.
func TestGeneratorAndRuntimeAgreeOnPeriods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text string
		if rapid.Bool().Draw(t, "by units") {
			for range rapid.IntRange(0, 4).Draw(t, "parts") {
				text += fmt.Sprint(rapid.SampledFrom([]int{0, 1, 59, 366, 1000, 31_622_400, 1 << 40}).Draw(t, "number"))
				text += rapid.SampledFrom([]string{"", "d", "h", "m", "s", "ms", "M"}).Draw(t, "unit")
			}
		} else {
			text = rapid.StringOfN(rapid.RuneFrom([]rune("0123459dhms. -+\"é")), 0, 6, -1).Draw(t, "text")
		}
		annotation, parseErr := annotations.Parse(fmt.Sprintf("//ratelimit:count=1 time=%q", text))
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var o ratelimit.Override
		runtimeErr := json.Unmarshal(fmt.Appendf(nil, `{"time":%s}`, quoted), &o)
		if (parseErr == nil) != (runtimeErr == nil) || parseErr == nil && annotation.Period != o.Period {
			t.Fatalf("%q\nannotations: %+v, %v\nruntime: %v, %v", text, annotation, parseErr, o.Period, runtimeErr)
		}
	})
}

// The page for operators shows a file that a program takes.
func TestPageAboutOverridesShowsAFile(t *testing.T) {
	page, err := os.ReadFile("../../docs/overrides.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n```yaml\n")
	text, _, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatal("the page has no block of YAML")
	}
	read, err := runtimeoverrides.Parse("page", []byte(text))
	if err != nil || read.Mode == nil || len(read.Limits) != 1 || len(read.Limits["users.Service.Get#1s"].Callers) != 2 {
		t.Errorf("it shows %+v, %v", read, err)
	}
}

var place = regexp.MustCompile(`(?m)^l\.yaml(?::\d+)*: `)

// What check -overrides accepts is what a program takes, and they find mistakes at the same places.
func TestGeneratorAndRuntimeAgreeOnFilesOfOverrides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawFile(t)
		mistakes := slices.DeleteFunc(overrides.Check("l.yaml", []byte(text), nil, false), func(d parse.Diagnostic) bool {
			return strings.HasPrefix(d.Message, "it never counts") // which a program takes
		})
		_, err := runtimeoverrides.Parse("l.yaml", []byte(text))
		checked, taken := "", ""
		if len(mistakes) > 0 {
			checked = mistakes.Error()
		}
		if err != nil {
			taken = err.Error()
		}
		if !slices.Equal(places(checked), places(taken)) {
			t.Fatalf("of\n%s\ncheck says\n%s\nthe runtime says\n%s", text, checked, taken)
		}
	})
}

// places returns where mistakes are, each once and in order of their texts.
func places(mistakes string) []string {
	all := place.FindAllString(mistakes, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// drawFile draws a file of overrides that may have mistakes.
func drawFile(t *rapid.T) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	rarely := func(label string) bool { return rapid.IntRange(0, 9).Draw(t, label) == 0 }
	var text strings.Builder
	field := func(indent string) {
		name := pick("field", "count", "time", "burst", "mode", "fail", "count", "time", "cuont", "Count", "callers")
		fmt.Fprintf(&text, "%s%s: %s\n", indent, name, pick("value",
			"1", "5", "1000000000", "1000000001", "0", "-1", "007", "1_000", "0x10", "1e3", "5.0", `"5"`, "10s", "1m30s", "1w", "366d", "367d",
			"off", `"off"`, "shadow", "enforce", "false", "local", "open", "closed", "close", "~", "", "[]", "{}", "*a", `"\u0000"`, "é"))
	}
	if rarely("mode of the whole") {
		field("")
		fmt.Fprintf(&text, "mode: %s\n", pick("mode", "off", "shadow", "on", "[]"))
	}
	fmt.Fprintf(&text, "%s:\n", pick("limits", "limits", "limits", "limits", "limit", "- limits"))
	for range rapid.IntRange(0, 3).Draw(t, "limits") {
		fmt.Fprintf(&text, "  %s:\n", pick("id", "a.B.C#1s", "a.B.D#all", `"a.B.E#1s"`, "a.B.F", "[]"))
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			field("    ")
		}
		if !rarely("callers") {
			continue
		}
		text.WriteString("    callers:\n")
		for range rapid.IntRange(0, 2).Draw(t, "callers") {
			fmt.Fprintf(&text, "      - by: %s\n", pick("by", "{user: ann}", "{ip: 10.0.0.0/8}", "{ip: 10.0.0}", "{ip: '::1'}", "{ip: '::ffff:10.0.0.0/104'}", "{ip: 'fe80::1%eth0'}",
				"{User: ann}", "{user: }", "{user: ''}", "{user: 12}", "{}", "[]", "ann", "{user: [ann]}", "{user: ann, user: bob}"))
			for range rapid.IntRange(0, 2).Draw(t, "their fields") {
				field("        ")
			}
		}
	}
	return text.String()
}

// Whether a limit can have what overrides it, the generator says by what a directive with it could have, and the runtime by the
// limit that comes of it.
func TestGeneratorAndRuntimeAgreeOnWhatALimitCanHave(t *testing.T) {
	algorithms := []ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow, ratelimit.LeakyBucket, ratelimit.Concurrency,
	}
	rapid.Check(t, func(t *rapid.T) {
		number := func(label string) int64 {
			return rapid.SampledFrom([]int64{1, 2, 5, 999, 1000, 1001, 2000, 60_000_000, 1_000_000_000}).Draw(t, label)
		}
		ms := func(label string) int64 {
			return rapid.SampledFrom([]int64{1, 999, 1000, 60_000, 86_400_000, 366 * 86_400_000}).Draw(t, label)
		}
		const id = "a.B.C#1s"
		rule := ratelimit.Rule{Key: "k", Name: "1s", Cost: 1}
		rule.Limit = ratelimit.Limit{
			Algorithm: rapid.SampledFrom(algorithms).Draw(t, "algorithm"), Count: number("count"), Period: time.Duration(ms("time")) * time.Millisecond,
		}
		limit := list.Limit{ID: id, Name: "1s", Algorithm: rule.Limit.Algorithm.String(), Count: rule.Limit.Count, Time: fmt.Sprintf("%dms", rule.Limit.Period.Milliseconds())}
		directive := fmt.Sprintf("//ratelimit:count=%d time=%s algorithm=%s", limit.Count, limit.Time, limit.Algorithm)
		if rapid.Bool().Draw(t, "with burst") {
			limit.Burst = number("burst")
			rule.Limit.Burst = limit.Burst
			directive += fmt.Sprintf(" burst=%d", limit.Burst)
		}
		if rapid.Bool().Draw(t, "with cost") {
			rule.Cost = number("cost")
			limit.Cost = &rule.Cost
			directive += fmt.Sprintf(" cost=%d", rule.Cost)
		}
		if rapid.Bool().Draw(t, "with wait") {
			wait := ms("wait")
			rule.Wait, limit.Wait = time.Duration(wait)*time.Millisecond, fmt.Sprintf("%dms", wait)
			directive += " wait=" + limit.Wait
		}
		if rapid.Bool().Draw(t, "by user") {
			rule.Key, limit.Per = "k:{@user}", []string{"user"}
		}
		if _, err := annotations.Parse(directive); err != nil {
			t.Skip("no directive")
		}

		text := "limits:\n  " + id + ":\n"
		field := func(indent string) {
			switch rapid.IntRange(0, 3).Draw(t, "field") {
			case 0:
				text += fmt.Sprintf("%scount: %d\n", indent, number("other count"))
			case 1:
				text += fmt.Sprintf("%stime: %dms\n", indent, ms("other time"))
			case 2:
				text += fmt.Sprintf("%sburst: %d\n", indent, number("other burst"))
			}
		}
		field("    ")
		if rapid.Bool().Draw(t, "for callers") {
			text += "    callers:\n"
			for range rapid.IntRange(1, 2).Draw(t, "callers") {
				text += fmt.Sprintf("      - by: {%s: ann}\n", rapid.SampledFrom([]string{"user", "user", "tenant"}).Draw(t, "by"))
				field("        ")
			}
		}
		read, err := runtimeoverrides.Parse("l.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe())
		if err != nil {
			t.Fatal(err)
		}
		limiter.Guard("a.B.C", rule)
		if len(limiter.Limits()) != 1 {
			t.Fatalf("%s is no limit of the runtime", directive)
		}
		var checkErr error
		mistakes := slices.DeleteFunc(overrides.Check("l.yaml", []byte(text), []list.Limit{limit}, true), func(d parse.Diagnostic) bool {
			return strings.HasPrefix(d.Message, "it never counts") // which a program takes
		})
		if len(mistakes) > 0 {
			checkErr = errors.New(mistakes.Error())
		}
		if runtimeErr := limiter.CheckOverrides(read); (checkErr == nil) != (runtimeErr == nil) {
			t.Fatalf("of %s and\n%s\ncheck says %v\nthe runtime says %v", directive, text, checkErr, runtimeErr)
		}
	})
}
