package ratelimit_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func TestOverrideReadsAsInAFile(t *testing.T) {
	const text = `{"count":5,"time":"1d12h","burst":10,"mode":"shadow","fail":"closed","callers":[` +
		`{"by":{"ip":"10.0.0.0/8","user":"ann"},"count":50},{"by":{"tenant":"acme"},"time":"1ms","mode":"off"}]}`
	want := ratelimit.Override{
		Count: 5, Period: 36 * time.Hour, Burst: 10, Mode: new(ratelimit.ModeShadow), Fail: ratelimit.FailClosed,
		Callers: []ratelimit.CallerOverride{
			{By: map[string]string{"user": "ann", "ip": "10.0.0.0/8"}, Count: 50},
			{By: map[string]string{"tenant": "acme"}, Period: time.Millisecond, Mode: new(ratelimit.ModeOff)},
		},
	}
	var got ratelimit.Override
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if back, err := json.Marshal(got); err != nil || string(back) != text {
		t.Errorf("written it is\n%s, %v, want\n%s", back, err, text)
	}
	if empty, err := json.Marshal(ratelimit.Override{}); err != nil || string(empty) != "{}" {
		t.Errorf("one that changes nothing is %s, %v, want {}", empty, err)
	}
}

func TestOverridesReadAsAFile(t *testing.T) {
	const text = `{"mode":"off","limits":{"a.B.C#1s":{"count":5},"a.B.D#x":{}}}`
	want := ratelimit.Overrides{
		Mode:   new(ratelimit.ModeOff),
		Limits: map[string]*ratelimit.Override{"a.B.C#1s": {Count: 5}, "a.B.D#x": {}},
	}
	var got ratelimit.Overrides
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if back, err := json.Marshal(got); err != nil || string(back) != text {
		t.Errorf("written it is\n%s, %v, want\n%s", back, err, text)
	}
}

func TestOverrideThatIsNoneSaysAllThatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`5`:                                    `5: want an object in braces`,
		`{"cuont":5}`:                          `there is no "cuont": want count, time, burst, mode or fail`,
		`{"Count":5}`:                          `there is no "Count": want count, time, burst, mode or fail`,
		`{"count":5,"count":6}`:                `count is there twice: want it once`,
		`{"count":"5"}`:                        `count is "5": want an integer, 1 to 1000000000`,
		`{"count":5.0}`:                        `count is 5.0: want an integer, 1 to 1000000000`,
		`{"count":null}`:                       `count is null: want an integer, 1 to 1000000000`,
		`{"burst":0}`:                          `burst is 0: want an integer, 1 to 1000000000`,
		`{"time":"5x"}`:                        `time is "5x": want seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d`,
		`{"time":0}`:                           `time is 0: want 1ms to 366d`,
		`{"time":"367d"}`:                      `time is "367d": want 1ms to 366d`,
		`{"mode":false}`:                       `mode is false: want enforce, shadow or off`,
		`{"fail":""}`:                          `fail is "": want local, open or closed`,
		`{"callers":{}}`:                       `callers is {}: want a list`,
		`{"callers":[{}]}`:                     `callers 1: by is empty: want attributes of the caller, such as user: ann`,
		`{"callers":[{"by":{"user":1}}]}`:      `callers 1: user is 1: want the value of the caller as text`,
		`{"callers":[{"by":{"ip":"10.0.0"}}]}`: `callers 1: ip is "10.0.0": want an address or a network, such as 203.0.113.7 or 10.0.0.0/8`,
		`{"callers":[{"by":{"User":"a"}}]}`:    `callers 1: by has "User": want names of a-z, 0-9, _ and -, such as user`,
		`{"callers":[{"by":{"user":"a"},"callers":[]}]}`: `callers 1: there is no "callers": want count, time, burst, mode or fail`,
		`{"count":0,"mode":"on"}`:                        "count is 0: want an integer, 1 to 1000000000\n" + `mode is "on": want enforce, shadow or off`,
		`{"count":5} {}`:                                 `invalid character '{' after top-level value`,
	} {
		o := ratelimit.Override{Count: 7}
		if err := json.Unmarshal([]byte(text), &o); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
		if o.Count != 7 {
			t.Errorf("%s: has changed the override to %+v", text, o)
		}
	}
}

func TestOverridesThatAreNoneSayOfWhichLimit(t *testing.T) {
	for text, want := range map[string]string{
		`{"limit":{}}`:                     `there is no "limit": want mode or limits`,
		`{"mode":"on"}`:                    `mode is "on": want enforce, shadow or off`,
		`{"limits":{"a#1s":{"time":"x"}}}`: `a#1s: time is "x": want seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d`,
		`{"limits":{"a#1s":{},"a#1s":{}}}`: `a#1s is there twice: want it once`,
		`{"limits":{"a#1s":null}}`:         `a#1s: null: want an object in braces`,
	} {
		var o ratelimit.Overrides
		if err := json.Unmarshal([]byte(text), &o); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// What a program may say and no directive can is no text.
func TestPeriodsWithoutATextAreNotWritten(t *testing.T) {
	for period, want := range map[time.Duration]string{
		time.Microsecond * 1500: "time is 1.5ms: want whole milliseconds, 1ms to 366d, to write it",
		367 * 24 * time.Hour:    "time is 8808h0m0s: want whole milliseconds, 1ms to 366d, to write it",
	} {
		_, err := ratelimit.Override{Period: period}.MarshalJSON()
		if err == nil || err.Error() != want {
			t.Errorf("%v: got %v, want %s", period, err, want)
		}
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := ratelimit.Override{
			Count:  rapid.Int64Range(0, 1_000_000_000).Draw(t, "count"),
			Period: time.Duration(rapid.Int64Range(0, 366*24*3600*1000).Draw(t, "ms")) * time.Millisecond,
			Burst:  rapid.Int64Range(0, 1_000_000_000).Draw(t, "burst"),
			Fail:   rapid.SampledFrom([]ratelimit.Failure{"", "local", "open", "closed"}).Draw(t, "fail"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "callers") {
			want.Callers = append(want.Callers, ratelimit.CallerOverride{
				By:    map[string]string{"user": rapid.StringN(1, 5, -1).Draw(t, "user")},
				Count: rapid.Int64Range(0, 9).Draw(t, "their count"),
			})
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got ratelimit.Override
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	})
}
