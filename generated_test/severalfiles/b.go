package severalfiles

// reader differs from Reader in case only.
type reader interface {
	//ratelimit:key=own count=2 time=1h
	Do(p []byte) error
}

type ReaderV2 interface {
	Reader
	//ratelimit:key=more count=1 time=1h
	More() error
}
