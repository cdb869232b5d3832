package overrides

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/internal/list"
)

func TestCheckBesideLimits(t *testing.T) {
	five := int64(5)
	get := list.Limit{ID: "u.S.Get#1s", Name: "1s", Algorithm: "token-bucket", Count: 10, Time: "1s", Cost: &five, File: "u.go", Line: 3, Per: []string{"user", "{id}"}}
	twin := list.Limit{ID: "u.S.Get#1s", Name: "1s", Algorithm: "fixed-window", Count: 10, Time: "1s", File: "v.go", Line: 4}
	waits := list.Limit{ID: "u.S.Put#1s", Name: "1s", Algorithm: "leaky-bucket", Count: 10, Time: "1s", Burst: 20, Wait: "1h", File: "u.go", Line: 7}
	for _, test := range []struct {
		name, text string
		limits     []list.Limit
		all        bool
		want       []string
	}{
		{"all is well", "limits:\n  u.S.Get#1s: {count: 5, burst: 6}\n", []list.Limit{get}, true, nil},
		{"an id that may be that of a package with mistakes", "limits:\n  u.S.Gett#1s: {}\n", []list.Limit{get}, false, nil},
		{"an id that is near none", "limits:\n  pay.Desk.Open#slots: {}\n", []list.Limit{get}, true, []string{
			"l.yaml:2:3: there is no limit pay.Desk.Open#slots: want an id that ratelimitgen list shows",
		}},
		{"packages of one name: what one of them cannot have", "limits:\n  u.S.Get#1s: {burst: 6}\n", []list.Limit{get, twin}, true, []string{
			"l.yaml:2:23: burst with algorithm=fixed-window: want token-bucket or leaky-bucket (limit 1s at v.go:4)",
		}},
		{"what the directive has is not enough for it", "limits:\n  u.S.Get#1s:\n    time: 2s\n    count: 4\n", []list.Limit{get}, true, []string{
			"l.yaml:4:12: cost=5: want 0 to the capacity, 4 (limit 1s at u.go:3)",
		}},
		{"a wait of the directive", "limits:\n  u.S.Put#1s: {count: 1000000}\n", []list.Limit{waits}, true, []string{
			"l.yaml:2:23: wait=1h: 1000000 per 1s come to more than 1000000000 in that time: want at most 16m40s (limit 1s at u.go:7)",
		}},
		{"callers have what is said of all beside their own", "limits:\n  u.S.Get#1s:\n    count: 900000\n    callers:\n    - by: {user: ann}\n      time: 500ms\n    - by: {user: bob}\n      mode: off\n", []list.Limit{get}, true, []string{
			"l.yaml:6:13: count=900000: more than 1000000 a second: want at most 500000 per 500ms (limit 1s at u.go:3)",
		}},
		{"what is wrong of all is told once", "limits:\n  u.S.Get#1s:\n    count: 4\n    callers:\n    - by: {user: ann}\n      time: 500ms\n", []list.Limit{get}, true, []string{
			"l.yaml:3:12: cost=5: want 0 to the capacity, 4 (limit 1s at u.go:3)",
		}},
		{"entries that never count", `limits:
  u.S.Get#1s:
    callers:
    - by: {user: ann}
    - by: {user: bob, id: 5}
    - by: {ip: 10.0.0.0/8}
    - by: {user: ann}
    - by: {user: ann, ip: 192.0.2.1}
    - by: {user: bob}
    - by: {ip: 10.1.2.3}
    - by: {ip: 10.1.0.0/16, user: eve}
    - by: {ip: 0.0.0.0/0}
    - by: {ip: "::1"}
    - by: {ip: "::ffff:192.0.2.1"}
    - by: {id: 5, user: bob}
`, []list.Limit{get}, false, []string{
			"l.yaml:7:7: it never counts: all whom it is for match the entry of line 4 before",
			"l.yaml:8:7: it never counts: all whom it is for match the entry of line 4 before",
			"l.yaml:10:7: it never counts: all whom it is for match the entry of line 6 before",
			"l.yaml:11:7: it never counts: all whom it is for match the entry of line 6 before",
			"l.yaml:14:7: it never counts: all whom it is for match the entry of line 12 before",
			"l.yaml:15:7: it never counts: all whom it is for match the entry of line 9 before",
		}},
		{"fields without a value", "mode:\nlimits:\n  u.S.Get#1s: {count: , fail: ''}\n", []list.Limit{get}, true, []string{
			"l.yaml:1:6: mode is empty: want a value, or no mode",
			"l.yaml:3:23: count is empty: want a value, or no count",
			"l.yaml:3:31: fail is empty: want a value, or no fail",
		}},
		{"too many callers", "limits:\n  u.S.Get#1s:\n    callers:\n" + strings.Repeat("    - by: {user: ann}\n", 10_001), []list.Limit{get}, true, []string{
			"l.yaml:4:5: callers are 10001: want at most 10000, and OverrideBy for more",
		}},
		{"too many networks", "limits:\n  u.S.Get#1s:\n    callers:\n" + networks(1001), []list.Limit{get}, true, []string{
			"l.yaml:4:5: networks of callers are 1001: want at most 1000, and OverrideBy for more",
		}},
		{"a file that is too large", "limits: {}\n#" + strings.Repeat("x", 1<<20), nil, true, []string{"l.yaml: has more than 1048576 bytes"}},
		{"attributes of callers", "limits:\n  u.S.Get#1s:\n    callers:\n    - by: {usr: ann, ip: '::1', plan: pro}\n", []list.Limit{get}, true, []string{
			`l.yaml:4:12: no limit goes by "usr": did you mean "user"?`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if mistakes := Check("l.yaml", []byte(test.text), test.limits, test.all); len(mistakes) > 0 {
				got = mistakes.Error()
			}
			if want := strings.Join(test.want, "\n"); got != want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", test.text, got, want)
			}
		})
	}
}

// networks returns that many entries of callers.
func networks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    - by: {ip: 10.%d.%d.0/24}\n", i/256, i%256)
	}
	return b.String()
}
