package parse

import "testing"

func TestNameForPath(t *testing.T) {
	for path, want := range map[string]string{
		"example.com/app/limited":          "limited",
		"example.com/app/rate-limited":     "ratelimited",
		"example.com/app/rate_limited":     "rate_limited",
		"example.com/app/go-limited":       "limited",
		"example.com/app/limited.v2":       "limited",
		"example.com/app/limited/v2":       "limited",
		"example.com/app/v":                "v",
		"v2":                               "v2",
		"example.com/app/2nd":              "pkg2nd",
		"example.com/app/range":            "pkgrange",
		"example.com/app/main":             "pkgmain",
		"example.com/app/---":              "pkg",
		"example.com/app/Лимиты":           "Лимиты",
		"example.com/app/limited/internal": "internal",
	} {
		if got := nameFor(path); got != want {
			t.Errorf("nameFor(%q) is %q, want %q", path, got, want)
		}
	}
}

func TestOrigin(t *testing.T) {
	const origin = "example.com/app/users.v2"
	for _, test := range []struct{ text, want string }{
		{HeaderFor(origin) + "\npackage limited\n", origin},
		{"\ufeff" + Header + "\r\n// Decorators of " + origin + ".\r\n\r\npackage limited\r\n", origin},
		{HeaderFor("") + "\npackage limited\n", ""},
		{Header + "\n\n//go:build linux\n\npackage limited\n", ""},
		{"package limited\n\nconst _ = `\n" + HeaderFor(origin) + "`\n", ""},
		{"", ""},
	} {
		if got := originOf([]byte(test.text)); got != test.want {
			t.Errorf("%q has the origin %q, want %q", test.text, got, test.want)
		}
	}
}
