package embedded

// drawer has limits that hold wherever it is embedded.
type drawer interface {
	//ratelimit:count=2 time=1h
	Open() (lock, error)
	lock
}

// Pipe brings Close twice, with the same limit.
type Pipe interface {
	inlet
	outlet
}

type inlet interface {
	//ratelimit:count=1 time=1h
	Read(p []byte) (int, error)
	//ratelimit:count=2 time=1h
	Close() error
}

type outlet interface {
	//ratelimit:count=3 time=1h
	Write(p []byte) (int, error)
	//ratelimit:count=2 time=1h
	Close() error
}

type lock interface {
	//ratelimit:count=3 time=1h
	Turn(times int) error
}

// Crate embeds an interface without a name, to whose doc comment the parser of Go is blind.
type Crate interface {
	//ratelimit:count=2 time=1h
	interface {
		Fill(s string) error
		//ratelimit:count=3 time=1h
		Clear() error
	}
	Weigh() int // above a doc comment, and none itself
	//ratelimit:count=4 time=1h
	interface{ Close() error }
}
