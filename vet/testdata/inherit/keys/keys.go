package keys // want package:`directives on .*`

import "example.com/inherit/base"

// Store has a key that is another one's in the interface it embeds, whose place is in another package.
type Store interface { // want `key "put" is for 5 per 1s \(token bucket\) here, for 7 per 1s \(token bucket\) at \S*/keys/keys.go:9:22: want equal limits, or another key \(at \S*/base/base.go:12:22\)`
	base.Store
	// want +1 `key "put" is for 7 per 1s \(token bucket\) here, for 5 per 1s \(token bucket\) at \S*/base/base.go:12:22: want equal limits, or another key`
	//ratelimit:count=7 key=put
	Delete() error
}
