// Package unicodenames has names outside of ASCII, and type parameters that are no word.
package unicodenames

type ЗаказID string

type Straße struct{ No int }

type 世界 int

type Склад interface {
	//ratelimit:count=2 time=1h
	Найти(ЗаказID, Straße) (世界, error)
	//ratelimit:count=2 time=1h
	Все(世界, 世界, []Straße, ...ЗаказID) error
}

// Numbered has parameters that are called like its type parameters.
type Numbered[_1, _, type_ any] interface {
	//ratelimit:count=2 time=1h
	Put(_1 int, type_ string) (_1, error)
}
