package dotimports_test

import (
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/dotimports"
	"github.com/ratelimitgen/ratelimitgen/generated_test/dotimports/table"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type query struct{ limittest.Calls }

func (q *query) Where(within time.Duration, from ...table.Table) ([]table.Row, time.Time, error) {
	q.Add("Where", within, from)
	return []table.Row{{"a": 1}}, time.Unix(1, 0), nil
}

func TestQuery(t *testing.T) {
	var next query
	q := dotimports.NewRateLimitedQuery(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "dotimports.Query.Where", func() error {
		rows, at, err := q.Where(time.Second, "a", "b")
		if err == nil && (len(rows) != 1 || at.Unix() != 1) || err != nil && (rows != nil || !at.IsZero()) {
			t.Errorf("got %v, %v, %v", rows, at, err)
		}
		return err
	})
	next.Want(t, 2, "Where", time.Second, []table.Table{"a", "b"})
}
