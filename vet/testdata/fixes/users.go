package fixes // want package:`directives on \[example.com/fixes.Blank .*\]`

// Users has what can be mended without a doubt.
type Users interface {
	// want +1 `is not read as a directive: want "//ratelimit:count"`
	// ratelimit:count=5
	Blank() error

	// want +1 `is not read as a directive: want "//ratelimit:key"`
	//ratelimit: key=users count=5
	Gap() error

	// want +1 `unknown attribute "Key": did you mean "key"`
	//ratelimit:Key=users count=5
	Capital() error

	// want +1 `is not read as a directive: want "//ratelimit:count"`
	//RateLimit:count=5 time=1
	Camel() error

	// want +1 `is not read as a directive: want "//ratelimit:count"`
	/*ratelimit:count=5*/
	Block() error

	// want +1 `is not read as a directive: want "//ratelimit:key"`
	//@RateLimit(key = "users", time = 1, count = 5)
	Annotation() error

	// want +1 `count: blanks around =`
	//ratelimit:count = 5
	Blanks() error

	// want +1 `unknown attribute "cuont": did you mean "count"` `unknown attribute "perIP": did you mean "ip"`
	//ratelimit:cuont=5 time=1 perIP=false
	Misspelled() error

	// want +1 `unknown directive "exempt": did you mean "skip"`
	//ratelimit:exempt
	Exempt() error

	// want +1 `algorithm=gcra: did you mean "leaky-bucket"`
	//ratelimit:count=5 algorithm=gcra
	Algorithm() error
}

// Doubtful has what could be mended in more ways than one, or not at all.
type Doubtful interface {
	// want +3 `is not read as a directive: want "//ratelimit:count"`

	/*
		ratelimit:count=5
	*/
	Block() error

	// want +1 `is not read as a directive: want "//ratelimit:count"`
	//@RateLimit(count = 5, unit = SECONDS)
	Annotation() error

	// want +1 `unknown attribute "limit": did you mean "count"`
	//ratelimit:count=5 limit=5
	Twice() error

	// want +1 `count=0: want 1 to 1000000000`
	//ratelimit:count=0
	Zero() error
}
