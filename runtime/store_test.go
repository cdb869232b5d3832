package ratelimit_test

import (
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func TestCheckCharges(t *testing.T) {
	second, slot := ratelimit.Limit{Count: 5, Period: time.Second}, slots(1, time.Minute)
	fast := ratelimit.Limit{Count: 1_000_000_000, Period: 24 * time.Hour}
	window := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Second}
	tests := []struct {
		name    string
		charges []ratelimit.Charge
		want    string
	}{
		{"none", nil, ""},
		{"plain", []ratelimit.Charge{{Limit: second}}, ""},
		{"two buckets", []ratelimit.Charge{{Name: "a", Limit: second}, {Name: "b", Limit: second}}, ""},
		{"one bucket twice", []ratelimit.Charge{{Key: []byte("k"), Name: "a", Limit: second}, {Key: []byte("k"), Name: "a", Limit: second}}, `ratelimit: charges 0 and 1 name the same bucket "k" a`},
		{"no limit", []ratelimit.Charge{{}}, "ratelimit: Limit.Count is 0: want 1 to 1000000000\nratelimit: Limit.Period is 0s: want 1ms to 87600h0m0s"},
		{"cost", []ratelimit.Charge{{Limit: second, Cost: -1}}, "ratelimit: Charge.Cost is -1: want at least 0"},
		{"a thousand slots", []ratelimit.Charge{{Limit: slots(2000, time.Minute), Cost: 1000}}, ""},
		{"more slots than are kept for one", []ratelimit.Charge{{Limit: slots(2000, time.Minute), Cost: 1001}}, "ratelimit: Charge.Cost is 1001: want at most 1000 slots a holder"},
		{"more slots than there are", []ratelimit.Charge{{Limit: slots(2000, time.Minute), Cost: 2001}}, ""},
		{"taken before 1970", []ratelimit.Charge{{Limit: second, Taken: -1}}, "ratelimit: Charge.Taken is -1ns: want the time since 1970, in whole microseconds"},
		{"taken within a microsecond", []ratelimit.Charge{{Limit: second, Taken: time.Microsecond + 1}}, "ratelimit: Charge.Taken is 1.001µs: want the time since 1970, in whole microseconds"},
		{"wait", []ratelimit.Charge{{Limit: second, Wait: time.Hour}}, ""},
		{"wait for fewer than it seems", []ratelimit.Charge{{Limit: fast, Wait: 5 * time.Hour}}, ""},
		{"wait for a billion", []ratelimit.Charge{{Limit: fast, Wait: 24 * time.Hour}}, ""},
		{"wait for more", []ratelimit.Charge{{Limit: fast, Wait: 24*time.Hour + time.Millisecond}}, "ratelimit: Charge.Wait is 24h0m0.001s: 1000000000 per 24h0m0s come to more than 1000000000 in that time"},
		{"wait for ten years", []ratelimit.Charge{{Limit: ratelimit.Limit{Count: 1_000_000, Period: time.Second}, Wait: 87600 * time.Hour}}, "ratelimit: Charge.Wait is 87600h0m0s: 1000000 per 1s come to more than 1000000000 in that time"},
		{"wait for a window", []ratelimit.Charge{{Limit: window, Wait: time.Second}}, "ratelimit: Charge.Wait is 1s: nobody can wait for a turn in a fixed-window"},
		{"negative wait", []ratelimit.Charge{{Limit: second, Wait: -1}}, "ratelimit: Charge.Wait is -1ns: want at most 87600h0m0s, in whole microseconds"},
		{"part of a microsecond", []ratelimit.Charge{{Limit: second, Delay: 1}}, "ratelimit: Charge.Delay is 1ns: want at most 87600h0m0s, in whole microseconds"},
		{"holder", []ratelimit.Charge{{Limit: slot, Holder: strings.Repeat("~", 128)}}, ""},
		{"long holder", []ratelimit.Charge{{Limit: slot, Holder: strings.Repeat("~", 129)}}, `ratelimit: Charge.Holder is "` + strings.Repeat("~", 129) + `": want at most 128 printable ASCII characters without spaces`},
		{"space in a holder", []ratelimit.Charge{{Limit: slot, Holder: "2 a"}}, `ratelimit: Charge.Holder is "2 a": want at most 128 printable ASCII characters without spaces`},
		{"letter in a holder", []ratelimit.Charge{{Limit: slot, Holder: "é"}}, `ratelimit: Charge.Holder is "é": want at most 128 printable ASCII characters without spaces`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkError(t, ratelimit.CheckCharges(tt.charges), tt.want)
			checkError(t, ratelimit.CheckDecision(tt.charges, make([]ratelimit.Result, len(tt.charges))), tt.want)
		})
	}
	checkError(t, ratelimit.CheckDecision(make([]ratelimit.Charge, 2), make([]ratelimit.Result, 1)), "ratelimit: 2 charges and 1 results: want one result a charge")
}

func TestCheckHolders(t *testing.T) {
	slot := ratelimit.Charge{Key: []byte("k"), Name: "slots", Limit: slots(1, time.Minute), Cost: 1}
	const want = `ratelimit: Charge.Holder of "k" slots is empty: concurrency needs one`
	checkError(t, ratelimit.CheckHolders([]ratelimit.Charge{{Limit: fivePerSecond, Cost: 1}, slot}), want)
	held := make([]bool, 1)
	checkError(t, ratelimit.CheckRenewal([]ratelimit.Charge{slot}, held), want)
	slot.Holder = "h"
	checkError(t, ratelimit.CheckHolders([]ratelimit.Charge{slot, {Limit: slot.Limit}}), "")
	checkError(t, ratelimit.CheckRenewal([]ratelimit.Charge{slot}, held), "")
	checkError(t, ratelimit.CheckRenewal([]ratelimit.Charge{slot, slot}, held), "ratelimit: 2 charges and 1 answers: want one answer a charge")
	checkError(t, ratelimit.CheckRenewal([]ratelimit.Charge{{Limit: fivePerSecond}}, held), "ratelimit: token-bucket has no lease to renew")
}
