// Package overrides reads overrides of limits from a file that an operator edits, in YAML or JSON:
//
//	limits:
//	  users.Service.Get#1s:
//	    count: 5
//	    time: 1s
//	    callers:
//	      - by: {user: alice}
//	        count: 50
//
// Alice may have a count of her own, as the directive of Get has by=user. The command writes a file to start with,
// ratelimitgen list -format yaml, and validates one against the code, ratelimitgen check -overrides.
package overrides

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// maxFile is how many bytes a file may have, 1 MiB: enough for 10,000 callers, and read well before it is looked at again.
	maxFile = 1 << 20
	// settles is how long a file that has changed must stay as it is to be read: it may be half written.
	settles = 20 * time.Millisecond
	// maxReads is how many times it is read for that.
	maxReads = 10
)

// Source is a file of overrides. Make one by [File]. It is safe for concurrent use.
type Source struct {
	path string

	mu   sync.Mutex
	text []byte // that was read last
	read *ratelimit.Overrides
	err  error
}

var _ ratelimit.OverrideSource = (*Source)(nil)

// File returns the file at that path as a source, for [ratelimit.Limiter.Watch]. The path is followed at each look, so that
// the file may be replaced, which is the best way to change it, and be a link, as those of a ConfigMap of Kubernetes are. It is a
// regular file of at most 1 MiB.
func File(path string) *Source { return &Source{path: path} }

// Load implements [ratelimit.OverrideSource]. The error is that of the file, or of [Parse]. A file that has changed is read
// once it has been the same for 20 ms.
func (s *Source) Load(ctx context.Context) (*ratelimit.Overrides, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := s.contents()
	if err != nil {
		return nil, err
	}
	if s.text != nil && bytes.Equal(text, s.text) {
		return s.read, s.err
	}
	if text, err = s.settled(ctx, text); err != nil {
		return nil, err
	}
	s.text = text
	s.read, s.err = Parse(s.path, text)
	return s.read, s.err
}

// settled returns what the file holds when it is the same twice.
func (s *Source) settled(ctx context.Context, text []byte) ([]byte, error) {
	for range maxReads {
		timer := time.NewTimer(settles)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		again, err := s.contents()
		if err != nil {
			return nil, err
		}
		if bytes.Equal(again, text) {
			return text, nil
		}
		text = again
	}
	return nil, fmt.Errorf("%s: changes while it is read", s.path)
}

// contents is not nil without an error.
func (s *Source) contents() ([]byte, error) {
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() { // to open a pipe may take for ever
		return nil, fmt.Errorf("%s: want a regular file", s.path)
	}
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: has more than %d bytes", s.path, maxFile)
	}
	return text, nil
}
