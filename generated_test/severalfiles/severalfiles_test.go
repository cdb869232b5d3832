package severalfiles

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type fake struct{ limittest.Calls }

func (f *fake) Do(p []byte) error {
	f.Add("Do", p)
	return nil
}

func (f *fake) More() error {
	f.Add("More")
	return nil
}

func TestEqualKeysShareOneBucket(t *testing.T) {
	var next fake
	limiter := limittest.Limiter(t)
	r, w := NewRateLimitedReader(&next, limiter), NewRateLimitedWriter(&next, limiter)
	if err := w.Do([]byte("w")); err != nil {
		t.Fatal(err)
	}
	limittest.Admits(t, 1, "severalfiles.Reader.Do", func() error { return r.Do([]byte("r")) })
	limittest.Admits(t, 0, "severalfiles.Writer.Do", func() error { return w.Do(nil) })
	next.Want(t, 2, "Do", []byte("r"))
	limittest.Admits(t, 2, "severalfiles.reader.Do", func() error { return newRateLimitedReader(&next, limiter).Do(nil) })
}

func TestEmbeddedLimitSharesItsBucketToo(t *testing.T) {
	var next fake
	limiter := limittest.Limiter(t)
	r, r2 := NewRateLimitedReader(&next, limiter), NewRateLimitedReaderV2(&next, limiter)
	if err := r.Do(nil); err != nil {
		t.Fatal(err)
	}
	limittest.Admits(t, 1, "severalfiles.ReaderV2.Do", func() error { return r2.Do(nil) })
	limittest.Admits(t, 1, "severalfiles.ReaderV2.More", r2.More)
}
