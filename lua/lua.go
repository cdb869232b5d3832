// Package lua holds the scripts that decide calls in Redis, as text. Each file of the folder says at its head what it
// does; bucket.lua has the keys and arguments of a charge, and take.lua, peek.lua, refund.lua and renew.lua the replies.
//
// The texts are constant: configuration travels in the arguments, so that a server caches four scripts however many
// limits there are. They run on Redis from 6.2 on, Valkey and miniredis, and touch no key that is not declared.
package lua

import _ "embed"

// Take, Peek, Refund and Renew are the scripts, each complete in itself.
var (
	Take   = clock + plain + shared + take
	Peek   = clock + shared + peek
	Refund = clock + shared + refund
	Renew  = clock + shared + renew
)

var shared = arithmetic + bucket + text + tokenBucket + fixedWindow + leakyBucket + slidingWindow + slidingLog + concurrency

// What follows is in the order in which a script needs it: a local of Lua is known below its definition only.
var (
	//go:embed clock.lua
	clock string
	//go:embed plain.lua
	plain string
	//go:embed arithmetic.lua
	arithmetic string
	//go:embed bucket.lua
	bucket string
	//go:embed text.lua
	text string
	//go:embed token_bucket.lua
	tokenBucket string
	//go:embed fixed_window.lua
	fixedWindow string
	//go:embed leaky_bucket.lua
	leakyBucket string
	//go:embed sliding_window.lua
	slidingWindow string
	//go:embed sliding_log.lua
	slidingLog string
	//go:embed concurrency.lua
	concurrency string

	//go:embed take.lua
	take string
	//go:embed peek.lua
	peek string
	//go:embed refund.lua
	refund string
	//go:embed renew.lua
	renew string
)
