// Benchgen times ratelimitgen beside generators of mocks, which read interfaces and write Go files, too: whole runs of the
// commands, on the same interfaces, in turns.
//
// Usage, in the root of the repository:
//
//	go run ./internal/benchgen [-warm n] [-cold n] [-only project]
//
// It prints a table with the median, the shortest and the longest of n runs, and the processor time. A run is warm if the
// go command has built all that it needs before, and cold if its build cache is empty, as on a new machine: go list, which
// all of them ask, then has to compile what they want to know the types of. The operating system has read all files
// before.
//
// Every run starts without any output in the project. ratelimitgen is told ./... and finds the interfaces itself; the
// others are told where they are. In its source mode mockgen only parses the file that it is given, and knows no types.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	warm := flag.Int("warm", 5, "how often each command runs with a build cache")
	cold := flag.Int("cold", 1, "how often each command runs without")
	only := flag.String("only", "", "the only project to run them in")
	flag.Parse()
	if err := run(*only, *warm, *cold); err != nil {
		fmt.Fprintln(os.Stderr, "benchgen:", err)
		os.Exit(1)
	}
}

func run(only string, warm, cold int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	goMod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return err
	}
	b := &bench{root: filepath.Dir(strings.TrimSpace(string(goMod)))}
	if b.dir, err = os.MkdirTemp("", "benchgen"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.install(ctx); err != nil {
		return err
	}
	fmt.Println("| project | generator | warm, s | CPU, s | cold, s | CPU, s |\n|---|---|--:|--:|--:|--:|")
	for _, p := range projects() {
		if only != "" && p.name != only {
			continue
		}
		if err := b.write(ctx, p); err != nil {
			return err
		}
		warmRuns, err := b.rounds(ctx, p, warm, false)
		if err != nil {
			return err
		}
		coldRuns, err := b.rounds(ctx, p, cold, true)
		if err != nil {
			return err
		}
		for i, g := range generators {
			fmt.Printf("| %s | %s | %s | %s |\n", p.name, g.name, warmRuns[i], coldRuns[i])
		}
	}
	return nil
}

// bench is a folder with the commands and the projects.
type bench struct {
	root string // of the repository
	dir  string
}

// install builds the commands.
func (b *bench) install(ctx context.Context) error {
	bin := filepath.Join(b.dir, "bin")
	if err := goCommand(ctx, b.root, nil, "build", "-o", filepath.Join(bin, "ratelimitgen"), "./cmd/ratelimitgen"); err != nil {
		return err
	}
	for _, peer := range peers {
		if err := goCommand(ctx, b.dir, []string{"GOBIN=" + bin}, "install", peer); err != nil {
			return err
		}
	}
	return nil
}

// rounds runs every generator n times in turns, so that they share what else the machine has to do.
func (b *bench) rounds(ctx context.Context, p *project, n int, cold bool) ([]runs, error) {
	all := make([]runs, len(generators))
	if !cold { // what the first run builds is for the others
		for _, g := range generators {
			if _, err := b.time(ctx, p, g, nil); err != nil {
				return nil, err
			}
		}
	}
	for range n {
		for i, g := range generators {
			var env []string
			if cold {
				cache, err := os.MkdirTemp(b.dir, "cache")
				if err != nil {
					return nil, err
				}
				env = []string{"GOCACHE=" + cache}
			}
			took, err := b.time(ctx, p, g, env)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], took)
			if cold {
				if err := os.RemoveAll(strings.TrimPrefix(env[0], "GOCACHE=")); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// span is how long a run took.
type span struct{ wall, cpu time.Duration }

// runs are those of a generator.
type runs []span

// String returns the cells of the table.
func (r runs) String() string {
	if len(r) == 0 {
		return " | "
	}
	column := func(of func(span) time.Duration) (median, shortest, longest float64) {
		var list []float64
		for _, s := range r {
			list = append(list, of(s).Seconds())
		}
		slices.Sort(list)
		return list[len(list)/2], list[0], list[len(list)-1]
	}
	wall, shortest, longest := column(func(s span) time.Duration { return s.wall })
	cpu, _, _ := column(func(s span) time.Duration { return s.cpu })
	if len(r) == 1 {
		return fmt.Sprintf("%.2f | %.2f", wall, cpu)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f) | %.2f", wall, shortest, longest, cpu)
}

// time runs a generator in a project that has no output, and removes what it writes.
func (b *bench) time(ctx context.Context, p *project, g generator, env []string) (span, error) {
	dir := filepath.Join(b.dir, p.name)
	var took span
	start := time.Now()
	for _, c := range g.commands(p) {
		cmd := b.command(ctx, filepath.Join(dir, c.dir), env, c.args)
		if output, err := cmd.CombinedOutput(); err != nil {
			return span{}, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, output)
		}
		took.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() // of the go command, too
	}
	took.wall = time.Since(start)
	for _, pkg := range p.annotated {
		output := filepath.Join(dir, pkg, g.output)
		if _, err := os.Stat(output); err != nil {
			return span{}, fmt.Errorf("%s has written nothing: %w", g.name, err)
		}
		if err := os.Remove(output); err != nil {
			return span{}, err
		}
	}
	return took, nil
}

// command is a command of bin.
func (b *bench) command(ctx context.Context, dir string, env, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(b.dir, "bin", args[0]), args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	return cmd
}

// goCommand runs the go command, whose output is only worth reading if it fails.
func goCommand(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}
