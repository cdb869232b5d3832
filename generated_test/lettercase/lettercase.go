// Package lettercase has methods whose names differ in their case only.
package lettercase

type Pair interface {
	//ratelimit:count=1 time=1h
	Load(id string) error
	//ratelimit:count=2 time=1h
	load(id string) error
	//ratelimit:count=3 time=1h
	LOAD(id string) error
}
