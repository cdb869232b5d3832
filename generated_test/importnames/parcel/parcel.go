// Package parcel has the name of a parameter.
package parcel

type Box struct{ Kg int }

type Receipt struct{ No string }

// Tracker calls a parameter like the package that only its other method needs.
type Tracker interface {
	//ratelimit:count=2 time=1h
	Track(parcel string) ([]Box, error)
	//ratelimit:count=2 time=1h
	Weigh(no string) (Receipt, error)
}
