package takennames

// The names that the decorators' imports would have.
type time struct{ at int64 }

func ratelimit(t time) int64 { return t.at }

// true is none.
type true struct{}

var httplimit = ratelimit(time{at: 1})

var _, _ = httplimit, true{}
