package overrides_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/overrides"
)

const id = "users.Service.Get#1s"

// told keeps what an Observer is told of overrides.
type told struct {
	mu     sync.Mutex
	events []string
}

func (o *told) Observe(_ context.Context, e *ratelimit.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Kind != ratelimit.EventOverrides:
	case e.Err == nil:
		o.events = append(o.events, "taken")
	default:
		o.events = append(o.events, e.Err.Error())
	}
}

// since returns what was told since it was asked last.
func (o *told) since() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	events := o.events
	o.events = nil
	return events
}

// service is one with a limit of 2 whose overrides are in a file.
type service struct {
	*testing.T
	path    string
	limiter *ratelimit.Limiter
	told    told
}

func newService(t *testing.T, text string) *service {
	s := &service{T: t, path: filepath.Join(t.TempDir(), "limits.yaml")}
	s.write(text)
	var err error
	if s.limiter, err = ratelimit.New(memlimit.New(), ratelimit.Observe(&s.told)); err != nil {
		t.Fatal(err)
	}
	s.limiter.Guard("users.Service.Get", ratelimit.Rule{
		Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 2, Period: time.Second},
	})
	return s
}

func (s *service) write(text string) {
	s.Helper()
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// replace writes the file as an editor does, or as Kubernetes replaces a link.
func (s *service) replace(text string) {
	s.Helper()
	if err := os.WriteFile(s.path+".new", []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Rename(s.path+".new", s.path); err != nil {
		s.Fatal(err)
	}
}

// expect waits until a change must have been seen, and says what holds then.
func (s *service) expect(count int64, events ...string) {
	s.Helper()
	time.Sleep(600 * time.Millisecond)
	synctest.Wait()
	if got := s.limiter.Limits()[0].Holds.Limit.Count; got != count {
		s.Errorf("a count of %d holds, want %d", got, count)
	}
	for i := range events {
		events[i] = strings.ReplaceAll(events[i], "FILE", s.path)
	}
	if got := s.told.since(); !slices.Equal(got, events) {
		s.Errorf("told %q, want %q", got, events)
	}
}

func file(count string) string { return "limits:\n  " + id + ":\n    count: " + count + "\n" }

func TestFileIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, file("3"))
		if err := s.limiter.Watch(t.Context(), overrides.File(s.path)); err != nil {
			t.Fatal(err)
		}
		s.expect(3, "taken")
		s.expect(3)
		s.write(file("4"))
		s.expect(4, "taken")
		s.replace(file("5"))
		s.expect(5, "taken")
		s.write("limits: {}\n")
		s.expect(2, "taken")

		if err := s.limiter.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.write(file("6"))
		s.expect(2)
		if err := s.limiter.Watch(t.Context(), overrides.File(s.path)); err == nil || err.Error() != "ratelimit: the Limiter is closed" {
			t.Errorf("a closed Limiter watches: %v", err)
		}
	})
}

// As Kubernetes changes a ConfigMap: the file is a link into a directory that is a link, which is replaced.
func TestFileBehindALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, "")
		dir := filepath.Dir(s.path)
		publish := func(version, text string) {
			t.Helper()
			target := filepath.Join(dir, version)
			for _, err := range []error{
				os.Mkdir(target, 0o700),
				os.WriteFile(filepath.Join(target, "limits.yaml"), []byte(text), 0o600),
				os.Symlink(version, filepath.Join(dir, "..new")),
				os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		publish("..1", file("3"))
		if err := os.Remove(s.path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..data", "limits.yaml"), s.path); err != nil {
			t.Fatal(err)
		}
		if err := s.limiter.Watch(t.Context(), overrides.File(s.path)); err != nil {
			t.Fatal(err)
		}
		s.expect(3, "taken")
		publish("..2", file("4"))
		s.expect(4, "taken")
	})
}

func TestBrokenFileChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, file("3"))
		if err := s.limiter.Watch(t.Context(), overrides.File(s.path)); err != nil {
			t.Fatal(err)
		}
		s.expect(3, "taken")

		s.write(file("many"))
		s.expect(3, `FILE:3:12: count is "many": want an integer, 1 to 1000000000`)
		s.expect(3)
		s.write("")
		s.expect(3, `FILE: holds nothing: want limits, or limits: {}`)
		s.write("limits:\n  " + id + ":\n    count: 4\n    burst: 7\n") // a window has none
		s.expect(3, `ratelimit: override of users.Service.Get#1s: burst is 7: fixed-window has no burst`)

		if err := os.Remove(s.path); err != nil {
			t.Fatal(err)
		}
		s.expect(3, "open FILE: no such file or directory")
		s.expect(3)
		s.write(file("3")) // as it was: all is well again
		s.expect(3, "taken")
	})
}

// A file that somebody is writing is read when it is whole.
func TestHalfAFileIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, file("3")+"  a.B.C#1s:\n    mode: shadow\n")
		if err := s.limiter.Watch(t.Context(), overrides.File(s.path)); err != nil {
			t.Fatal(err)
		}
		s.told.since()
		time.Sleep(472 * time.Millisecond)
		for n := range 30 { // the look after half a second finds it on the way
			s.write(strings.Repeat("#", n) + "\nlimits: {}\n")
			time.Sleep(5 * time.Millisecond)
		}
		s.write(file("4"))
		s.expect(4, "taken")
	})
}

// A program may start before its file is there.
func TestWatchGoesOnAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, file("0"))
		err := s.limiter.Watch(t.Context(), overrides.File(s.path))
		if want := s.path + ":3:12: count is 0: want an integer, 1 to 1000000000"; err == nil || err.Error() != want {
			t.Fatalf("got %v, want %s", err, want)
		}
		s.expect(2, "FILE:3:12: count is 0: want an integer, 1 to 1000000000")
		s.write(file("4"))
		s.expect(4, "taken")
	})
}

func TestFileThatIsTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.yaml")
	if err := os.WriteFile(path, []byte("limits: {}\n#"+strings.Repeat("x", 4<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := overrides.File(path).Load(t.Context())
	if want := path + ": has more than 1048576 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
