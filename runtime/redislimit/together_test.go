package redislimit

import (
	"context"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Asked is what so many callers ask.
type Asked struct {
	Charges []ratelimit.Charge
	Calls   int
}

// Answered is what they are told, each by itself, or why they are not.
type Answered struct {
	Asked
	Results [][]ratelimit.Result
	Err     error
}

// TakeTogether has one command decide all that is asked, and returns the answers in the order in which it was decided.
func (s *Store) TakeTogether(ctx context.Context, asked ...Asked) ([]Answered, error) {
	of := map[*ask]Asked{}
	var asks []*ask
	for _, q := range asked {
		a := s.newAsk(q.Charges)
		a.calls = q.Calls
		of[a], asks = q, append(asks, a)
	}
	reply, err := s.send(ctx, s.scripts.take, s.encodeBatch(asks))
	if err == nil {
		err = s.readBatch(reply, asks)
	}
	if err != nil {
		return nil, err
	}
	answers := make([]Answered, len(asks))
	for i, a := range asks {
		answers[i] = Answered{Asked: of[a], Err: s.wrap("take", of[a].Charges, a.err)}
		for n := 0; n < a.calls && a.err == nil; n++ {
			results := make([]ratelimit.Result, len(a.charges))
			a.results(n, results)
			answers[i].Results = append(answers[i].Results, results)
		}
	}
	return answers, nil
}

// Mergeable reports whether calls of the charges can be decided as one.
func Mergeable(charges []ratelimit.Charge) bool { return mergeable(charges) }
