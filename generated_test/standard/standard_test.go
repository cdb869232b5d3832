package standard_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"io"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/standard"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type buffer struct {
	bytes.Buffer
	closed int
}

func (b *buffer) Close() error {
	b.closed++
	return nil
}

func TestStream(t *testing.T) {
	var next buffer
	var s io.ReadWriteCloser = standard.NewRateLimitedStream(&next, limittest.Limiter(t))
	if n, err := s.Write([]byte("abc")); n != 3 || err != nil {
		t.Fatalf("Write: got %d, %v", n, err)
	}
	p := make([]byte, 2)
	limittest.Admits(t, 2, "standard.Stream.Read", func() error { // shares its bucket with Write
		_, err := s.Read(p)
		return err
	})
	for range 5 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if string(p) != "cb" || next.closed != 5 {
		t.Errorf("read %q and closed %d times, want cb over ab, and 5", p, next.closed)
	}
}

type queryer struct{ limittest.Calls }

func (q *queryer) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	q.Add("QueryContext", query, args)
	return rows{}, nil
}

type rows struct{ driver.Rows }

func TestQueryer(t *testing.T) {
	var next queryer
	var q driver.QueryerContext = standard.NewRateLimitedQueryer(&next, limittest.Limiter(t))
	args := []driver.NamedValue{{Name: "id", Ordinal: 1, Value: int64(7)}}
	for _, user := range []string{"ann", "bob"} {
		ctx := ratelimit.WithCaller(t.Context(), "user", user)
		limittest.Admits(t, 2, "standard.Queryer.QueryContext", func() error {
			got, err := q.QueryContext(ctx, "select 1", args)
			if err == nil && got != driver.Rows(rows{}) || err != nil && got != nil {
				t.Errorf("got %v, %v", got, err)
			}
			return err
		})
	}
	next.Want(t, 4, "QueryContext", "select 1", args)
}
