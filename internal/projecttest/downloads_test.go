package projecttest

import (
	"slices"
	"strings"
	"testing"
)

const downloadsSource = `package main

import (
	ratelimit "` + module + `/runtime"
	"` + module + `/runtime/STORE"
)

//go:generate go run ` + command + `

type Service interface {
	//ratelimit:count=5
	Do() error
}

func limited(service Service) (Service, error) {
	limiter, err := ratelimit.New(STORE.New(CLIENT))
	if err != nil {
		return nil, err
	}
	return NewRateLimitedService(service, limiter), nil
}

func main() { _, _ = limited(nil) }
`

// What generated code and a store bring into the module of a user, beside this one. Whoever adds to it says why.
func TestWhatAUserDownloads(t *testing.T) {
	tests := []struct {
		store, client string
		required      []string // by go.mod: what a build takes
		tidied        []string // what go mod tidy takes beside that: the tests of what is imported
	}{
		{"memlimit", "", nil, []string{"pgregory.net/rapid"}},
		{
			"redislimit", "nil",
			[]string{
				"github.com/cespare/xxhash/v2", // of go-redis
				"github.com/redis/go-redis/v9",
				"github.com/sony/gobreaker/v2",
				"go.uber.org/atomic", // of go-redis
				"golang.org/x/sys",   // of go-redis
			},
			[]string{
				"github.com/alicebob/miniredis/v2",
				"github.com/bsm/ginkgo/v2",      // of go-redis
				"github.com/bsm/gomega",         // of go-redis
				"github.com/klauspost/cpuid/v2", // of go-redis
				"github.com/stretchr/testify",   // of gobreaker
				"github.com/yuin/gopher-lua",    // of miniredis
				"github.com/zeebo/xxh3",         // of go-redis
				"go.uber.org/goleak",
				"go.yaml.in/yaml/v3", // of testify
				"pgregory.net/rapid",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.store, func(t *testing.T) {
			user := newModule(t)
			user.write("service.go", strings.NewReplacer("STORE", test.store, "CLIENT", test.client).Replace(downloadsSource))
			user.run("go", "mod", "edit", "-require", module+"@v0.0.0")
			user.run("go", "generate", "./...")
			user.run("go", "mod", "tidy")
			user.run("go", "vet", "./...")

			var required []string
			for line := range strings.Lines(user.read("go.mod")) {
				if path, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "require "), " v"); ok && path != module {
					required = append(required, path)
				}
			}
			slices.Sort(required)
			same(t, "go.mod requires", required, test.required)
			tidied := slices.DeleteFunc(downloads(user.read("go.sum")), func(path string) bool { return slices.Contains(required, path) })
			same(t, "go mod tidy takes, beside that,", tidied, test.tidied)
		})
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// downloads returns the paths of the modules whose source a go.sum has, and not only their go.mod.
func downloads(sum string) []string {
	var paths []string
	for line := range strings.Lines(sum) {
		if path, version, ok := strings.Cut(line, " "); ok && !strings.Contains(version, "/go.mod ") {
			paths = append(paths, path)
		}
	}
	return slices.Compact(paths)
}
