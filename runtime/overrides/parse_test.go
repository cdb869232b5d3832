package overrides_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/overrides"
)

func TestFileOfOverrides(t *testing.T) {
	const text = `
# What an operator writes.
limits:
  users.Service.Get#1s:
    count: 5
    time: 10
    burst: 10
    mode: off # which other readers of YAML take for false
    fail: open
    callers:
      - by: {user: 12e3, ip: 10.0.0.0/8}
        count: 50
      - by:
          tenant: "no"
        time: 1m30s
        mode: "shadow"
  "users.Service.Put#all": {}
  users.Service.Post#1s:
mode: enforce
`
	want := &ratelimit.Overrides{
		Mode: new(ratelimit.ModeEnforce),
		Limits: map[string]*ratelimit.Override{
			"users.Service.Get#1s": {
				Count: 5, Period: 10 * time.Second, Burst: 10, Mode: new(ratelimit.ModeOff), Fail: ratelimit.FailOpen,
				Callers: []ratelimit.CallerOverride{
					{By: map[string]string{"user": "12e3", "ip": "10.0.0.0/8"}, Count: 50},
					{By: map[string]string{"tenant": "no"}, Period: 90 * time.Second, Mode: new(ratelimit.ModeShadow)},
				},
			},
			"users.Service.Put#all": {},
			"users.Service.Post#1s": {},
		},
	}
	got, err := overrides.Parse("limits.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}

	// JSON is YAML.
	asJSON, err := json.MarshalIndent(want, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if got, err = overrides.Parse("limits.json", asJSON); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("of the JSON\n%s\ngot %+v, %v", asJSON, got, err)
	}
}

func TestFileThatOverridesNothing(t *testing.T) {
	for _, text := range []string{"limits: {}", "{}", "limits:\n  # users.Service.Get#1s:\n  #   count: 5\n"} {
		if o, err := overrides.Parse("l", []byte(text)); err != nil || len(o.Limits) > 0 || o.Mode != nil {
			t.Errorf("%q: got %+v, %v", text, o, err)
		}
	}
}

func TestMistakesInAFile(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"an empty file, as one that is being written", "", []string{`l.yaml: holds nothing: want limits, or limits: {}`}},
		{"comments alone", "# limits:\n", []string{`l.yaml: holds nothing: want limits, or limits: {}`}},
		{"no YAML", "limits:\n  a#b: count: 5\n", []string{`l.yaml:2: mapping values are not allowed in this context`}},
		{"two documents", "limits: {}\n---\nlimits: {}\n", []string{`l.yaml:2:1: another document: want one`}},
		{"a text", "limits\n", []string{`l.yaml:1:1: "limits": want mode and limits`}},
		{"a list", "limits: []\n", []string{`l.yaml:1:9: a list: want limits by their ids`}},
		{"unknown fields", "limit: {}\nlimits:\n  a.B.C#1s:\n    cuont: 5\n    callers:\n    - {by: {user: ann}, prefetch: 2}\n", []string{
			`l.yaml:1:1: there is no "limit": want mode or limits`,
			`l.yaml:4:5: there is no "cuont": want count, time, burst, mode or fail`,
			`l.yaml:6:25: there is no "prefetch": want count, time, burst, mode or fail`,
		}},
		{"fields that are there twice", "limits: {}\nlimits:\n  a#b:\n    count: 5\n    count: 6\n  a#b: {}\n", []string{
			`l.yaml:2:1: limits is there twice: want it once`,
		}},
		{"limits that are there twice", "limits:\n  a#b:\n    count: 5\n    count: 6\n  a#b: {}\n", []string{
			`l.yaml:4:5: count is there twice: want it once`,
			`l.yaml:5:3: a#b is there twice: want it once`,
		}},
		{"values", "mode: on\nlimits:\n  a#b:\n    count: 0\n    time: 5x\n    burst: \"5\"\n    mode: false\n    fail: [open]\n", []string{
			`l.yaml:1:7: mode is "on": want enforce, shadow or off`,
			`l.yaml:4:12: count is 0: want an integer, 1 to 1000000000`,
			`l.yaml:5:11: time is "5x": want seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d`,
			`l.yaml:6:12: burst is "5": want an integer, 1 to 1000000000`,
			`l.yaml:7:11: mode is "false": want enforce, shadow or off`,
			`l.yaml:8:11: fail is a list: want one value`,
		}},
		{"numbers that are none here", "limits:\n  a#b: {count: 1_000, burst: 0x10}\n", []string{
			`l.yaml:2:16: count is "1_000": want an integer, 1 to 1000000000`,
			`l.yaml:2:30: burst is "0x10": want an integer, 1 to 1000000000`,
		}},
		{"no id", "limits:\n  users.Service.Get:\n    count: 5\n", []string{`l.yaml:2:3: "users.Service.Get": want an id, such as users.Service.Get#1s`}},
		{"callers", "limits:\n  a#b:\n    callers:\n    - count: 5\n    - by: {}\n    - by: {ip: 10.0.0}\n    - by: {User: ann}\n    - by: {user: }\n    - by: {user: {}}\n    - ann\n", []string{
			`l.yaml:4:7: by is missing: want attributes of the caller, such as by: {user: ann}`,
			`l.yaml:5:11: by is empty: want attributes of the caller, such as user: ann`,
			`l.yaml:6:12: ip is "10.0.0": want an address or a network, such as 203.0.113.7 or 10.0.0.0/8`,
			`l.yaml:7:12: by has "User": want names of a-z, 0-9, _ and -, such as user`,
			`l.yaml:8:18: user is empty: want the value of the caller`,
			`l.yaml:9:18: user is a mapping: want one value`,
			`l.yaml:10:7: "ann": want by, and count, time, burst, mode or fail`,
		}},
		{"an alias", "limits:\n  a#b: &some {count: 5}\n  a#c: *some\n", []string{`l.yaml:3:8: an alias, which is not known here: want count, time, burst, mode, fail or callers`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, err := overrides.Parse("l.yaml", []byte(test.text))
			if err == nil {
				t.Fatalf("got %+v, want errors", o)
			}
			if got, want := err.Error(), strings.Join(test.want, "\n"); got != want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", test.text, got, want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("mode: off\nlimits:\n  a#b:\n    count: 5\n    callers:\n    - by: {user: ann}\n      time: 1m\n")
	f.Add(`{"limits":{"a#b":{"mode":"off"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := overrides.Parse("l", []byte(text))
		if err != nil {
			return
		}
		// What is read is valid by itself, and can be written.
		written, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := overrides.Parse("l", written); err != nil || len(again.Limits) != len(o.Limits) {
			t.Errorf("written it is %s, of which\ngot  %+v, %v\nwant %+v", written, again, err, o)
		}
	})
}
