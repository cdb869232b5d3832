package spelling

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"count", "ip", "GetCached", "token-bucket"}
	aliases := func(word string) string {
		if word == "ip" {
			return "iplimit clientip"
		}
		return ""
	}
	for _, test := range []struct{ word, want string }{
		{"count", "count"},
		{"cuont", "count"}, // neighbours that are swapped are one mistake
		{"getcached", "GetCached"},
		{"Get_Cached", "GetCached"},
		{"GetCache", "GetCached"},
		{"TokenBucket", "token-bucket"},
		{"ipLimit", "ip"},
		{"colour", ""},
		{"is", ""}, // half of it is wrong
		{"", ""},
	} {
		if got := Nearest(test.word, known, aliases); got != test.want {
			t.Errorf("%q: got %q, want %q", test.word, got, test.want)
		}
	}
}
