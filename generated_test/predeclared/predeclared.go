// Package predeclared has parameters and results that are called like predeclared names.
package predeclared

type Label interface {
	//ratelimit:count=2 time=1h
	Set(string string, len int, nil bool, true any) (error error)
	//ratelimit:count=2 time=1h
	Get(error error, any []byte, int int) (bool bool, append error)
	// Test hides the word for its own zero value.
	//
	//ratelimit:count=2 time=1h
	Test(false, bool bool) (bool, error)
	Format(byte byte, rune rune, new, make, panic, recover, iota string) string
}
