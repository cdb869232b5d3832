package overrides

import (
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
		{"too many callers", "limits:\n  u.S.Get#1s:\n    callers:\n" + strings.Repeat("    - by: {user: ann}\n", 10_001), []list.Limit{get}, true, []string{
			"l.yaml:4:5: callers are 10001: want at most 10000, and OverrideBy for more",
		}},
		{"too many networks", "limits:\n  u.S.Get#1s:\n    callers:\n" + strings.Repeat("    - by: {ip: 10.0.0.0/8}\n", 1001), []list.Limit{get}, true, []string{
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
