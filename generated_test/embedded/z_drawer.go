package embedded

// drawer has limits that hold wherever it is embedded.
type drawer interface {
	//ratelimit:count=2 time=1h
	Open() (lock, error)
	lock
}

type lock interface {
	//ratelimit:count=3 time=1h
	Turn(times int) error
}
