package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// subjectOf returns the interface I of a package p.
func subjectOf(t *testing.T, source string) *subject {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p\n\n"+source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("example.com/p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := subjects(pkg)
	if len(all) != 1 || all[0].object.Name() != "I" {
		t.Fatalf("got %v, want I", all)
	}
	return all[0]
}

func TestInterfacesAreLeftOutForAReason(t *testing.T) {
	tests := []struct{ source, want string }{
		{"type I interface{}", hasNoMethods},
		{"type I any", hasNoMethods},
		{"type I interface{ ~int; String() string }", isConstraint},
		{"type I interface{ comparable }", isConstraint},
		{"type I interface{ Get(hidden) }; type hidden struct{}", isUnnameable},
		{"type I interface{ Get() map[string][]*hidden }; type hidden struct{}", isUnnameable},
		{"type I interface{ Get(struct{ a int }) }", isUnnameable},
		{"type I interface{ Get(A) }; type A = hidden; type hidden struct{}", ""},
		{"type I interface{ Get(a) }; type a = int", ""},
		{"type I interface{ Get(hidden) }; type A = hidden; type hidden struct{}", ""},
		{"type I interface{ get(hidden) }; type hidden struct{}", ""},
		{"type I[T number] interface{ Get(T) }; type number interface{ ~string }", ""},
		{"type I[T number] interface{ Get(T) }; type number interface{ ~float32; Get() }", hasNoArgs},
		{"type I = interface{ Get() }", ""},
		{"type I error", ""},
	}
	for _, tt := range tests {
		if got := subjectOf(t, tt.source).reason; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.source, got, tt.want)
		}
	}
}

func TestSource(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{
			"plain and elaborate", "type I interface{ Get(id string, err error) error; Put([]byte) (int, error) }", `package p2

import p "example.com/p"

//ratelimit:count=5
type I interface {
p.I
}

//ratelimit:count=5 name=costly cost={len($0)} methods=Get,Put
//ratelimit:count=5 name=keyed key=sweep:{$0} methods=Get
//ratelimit:count=5 name=refunded refund={err == nil} methods=Put
//ratelimit:count=5 name=refunded refund={ret0 == nil} methods=Get
//ratelimit:count=5 name=skipped skip={$0 == nil} methods=Put
//ratelimit:count=5 name=skipped skip={$1 == nil} methods=Get
//ratelimit:count=5 name=slots algorithm=concurrency methods=Get,Put
type ElaborateI interface {
p.I
}

`,
		},
		{
			"methods that cannot be refused", "type I interface{ Get() error; Len() int; private() error }", `package p2

import p "example.com/p"

//ratelimit:count=5 methods=Get
type I interface {
p.I
}

//ratelimit:count=5 name=refunded refund={err == nil} methods=Get
//ratelimit:count=5 name=slots algorithm=concurrency methods=Get
//ratelimit:count=5 name=slots algorithm=concurrency fallback=insteadOf_I_Len methods=Len
type ElaborateI interface {
p.I
}

func insteadOf_I_Len() int { panic("too many") }
`,
		},
		{
			"no method that can", "type I[K comparable, V any] interface{ Limited(K) V }", `package p2

import context "context"
import p "example.com/p"

type I[K comparable, V any] interface {
p.I[K, V]
//ratelimit:count=5
LimitedToo(context.Context) error
}
`,
		},
		{
			"constraint that cannot be named", "type I[K, V number] interface{ Get(K) V }; type number interface{ ~string }", `package p2

import context "context"
import p "example.com/p"

type I interface {
p.I[string, string]
//ratelimit:count=5
Limited(context.Context) error
}

//ratelimit:count=5 name=slots algorithm=concurrency fallback=insteadOf_I_Get methods=Get
type ElaborateI interface {
p.I[string, string]
}

func insteadOf_I_Get(string) string { panic("too many") }
`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := subjectOf(t, tt.source).source("p2"); strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	tests := []struct{ line, path, message string }{
		{"decorated/io/reader.go:6:1: count=0: want 1\n", "decorated/io/reader.go", "count=0: want 1"},
		{"vet: decorated/io/reader.go:6: passes a lock\n", "decorated/io/reader.go", "passes a lock"},
		{"/tmp/reader_ratelimit.go: stale: run go generate\n", "/tmp/reader_ratelimit.go", "stale: run go generate"},
		{"# example.com/sweep/decorated/io\n", "", ""},
	}
	for _, tt := range tests {
		if path, message := place(tt.line); path != tt.path || message != tt.message {
			t.Errorf("%q: got %q and %q, want %q and %q", tt.line, path, message, tt.path, tt.message)
		}
	}
}
