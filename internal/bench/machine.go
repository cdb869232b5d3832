package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

// machine is where it was measured, and with what.
type machine struct {
	processor string
	redis     string
	modules   []string
}

// compared are the modules of those that are measured.
var compared = []string{
	"github.com/go-chi/httprate", "github.com/go-redis/redis_rate/v10", "github.com/redis/go-redis/v9", "github.com/redis/rueidis",
	"github.com/sethvargo/go-limiter", "github.com/throttled/throttled/v2", "github.com/ulule/limiter/v3", "golang.org/x/time",
}

func newReport(ctx context.Context) (*report, error) {
	r := &report{machine: machine{processor: processor(ctx)}}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, fmt.Errorf("built without modules")
	}
	for _, m := range build.Deps {
		if slices.Contains(compared, m.Path) {
			r.machine.modules = append(r.machine.modules, strings.TrimPrefix(m.Path, "github.com/")+" "+m.Version)
		}
	}
	err := within(func(t testing.TB) {
		client := redis.NewClient(redistest.Server(t))
		defer func() { _ = client.Close() }()
		info, err := client.InfoMap(ctx, "server").Result()
		if err != nil {
			t.Fatal(err)
		}
		r.machine.redis = info["Server"]["redis_version"]
	})
	return r, err
}

// processor returns its name, where there is a way to know.
func processor(ctx context.Context) string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				return strings.Trim(name, "\t :\n")
			}
		}
	}
	name, err := exec.CommandContext(ctx, "sysctl", "-n", "machdep.cpu.brand_string").Output()
	if err != nil {
		return "unknown processor"
	}
	return strings.TrimSpace(string(name))
}

// String returns a sentence.
func (m machine) String() string {
	return fmt.Sprintf("%s/%s with %d cores (%s), %s, Redis %s on the same machine; %s", runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), m.processor, runtime.Version(), m.redis, strings.Join(m.modules, ", "))
}
