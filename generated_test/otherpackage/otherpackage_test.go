package otherpackage

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/otherpackage/base"
)

type service struct{ tx *sql.Tx }

func (service) Read(context.Context, *base.Request) error                   { return nil }
func (service) List(context.Context, *base.Request) error                   { return nil }
func (s service) BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)  { return s.tx, nil }
func (s service) BeginNow(context.Context, *sql.TxOptions) (*sql.Tx, error) { return s.tx, nil }
func (service) Done()                                                       {}
func (service) Close() error                                                { return nil }

type pipe struct{ io.ReadWriter }

func (pipe) Read(p []byte) (int, error) {
	if len(p) == 3 {
		return 0, io.EOF
	}
	return len(p), nil
}

func TestKeys(t *testing.T) {
	ctx := context.WithValue(t.Context(), base.Key{}, "Acme")
	eu := &base.Request{Tenant: "x", Meta: base.Meta{Region: &base.Region{Name: "eu"}}}
	reader := NewRateLimitedReader(service{}, limittest.Limiter(t))
	own := base.NewRateLimitedReader(service{}, limittest.Limiter(t))
	rows := NewRateLimitedRows(service{tx: &sql.Tx{}}, limittest.Limiter(t))
	files := NewRateLimitedFiles(fstest.MapFS{"a": {}, "bc": {}}, limittest.Limiter(t))
	for _, test := range []struct {
		call func() error
		want string
	}{
		{func() error { return reader.Read(ctx, eu) }, "read:acme:X:eu"},
		{func() error { return own.Read(ctx, eu) }, "read:acme:X:eu"},
		{func() error { return reader.Read(ctx, nil) }, "no strings.ToUpper(req.Tenant)"},
		{func() error { return reader.Read(ctx, &base.Request{Tenant: "x"}) }, "no req.Region"},
		{func() error { return reader.List(ctx, eu) }, "acme:eu"},
		{func() error { return reader.List(ctx, &base.Request{}) }, "no req.Region.Name"},
		{func() error { _, err := rows.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); return err }, "acme:true"},
		{func() error { _, err := rows.BeginNow(ctx, nil); return err }, "no opts.ReadOnly"},
		{func() error { return use(files.Open("a")) }, "default:1"}, // asks for the longer wait,
		{func() error { _, err := files.ReadFile("bc"); return err }, "default:2"},
	} {
		if got := limittest.Key(t, 2, test.call); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
}

func use(f fs.File, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

func TestRefunds(t *testing.T) {
	p := NewRateLimitedPipe(pipe{}, limittest.Limiter(t))
	for range 3 {
		if _, err := p.Read(make([]byte, 3)); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	limittest.Admits(t, 1, "otherpackage.Pipe.Read", func() error { _, err := p.Read(make([]byte, 4)); return err })
	rows := NewRateLimitedRows(service{}, limittest.Limiter(t))
	ctx := context.WithValue(t.Context(), base.Key{}, "Acme")
	for range 3 {
		if _, err := rows.BeginTx(ctx, &sql.TxOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
