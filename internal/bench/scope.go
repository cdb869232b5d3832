package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
)

// scope is what a test is to package redistest and the limiters, outside of a test: it says when they end, and takes their
// failures.
type scope struct {
	testing.TB // nil: what is not here is not for them
	err        error
	cleanups   []func()
}

// within runs do in a scope, ends what it has started, and returns its failure.
func within(do func(t testing.TB)) error {
	s := &scope{}
	done := make(chan struct{})
	go func() { // which Fatal ends
		defer close(done)
		defer s.end()
		do(s)
	}()
	<-done
	return s.err
}

func (s *scope) end() {
	for len(s.cleanups) > 0 {
		last := len(s.cleanups) - 1
		do := s.cleanups[last]
		s.cleanups = s.cleanups[:last]
		do()
	}
}

func (s *scope) Cleanup(do func()) { s.cleanups = append(s.cleanups, do) }
func (s *scope) Helper()           {}

func (s *scope) Fatal(args ...any) {
	s.err = errors.Join(s.err, errors.New(fmt.Sprint(args...)))
	runtime.Goexit()
}

func (s *scope) Errorf(format string, args ...any) {
	s.err = errors.Join(s.err, fmt.Errorf(format, args...))
}

func (s *scope) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }
func (s *scope) Skipf(format string, args ...any)  { s.Fatal(fmt.Sprintf(format, args...)) }

func (s *scope) TempDir() string {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
