package takennames

type Aware interface {
	//ratelimit:count=2 time=1h
	Tick() (time, error)
}
