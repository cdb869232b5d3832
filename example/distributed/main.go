// Distributed shows what limits are worth while Redis has a bad day. It starts a Redis Cluster of three primaries with a
// replica each, three processes of a service whose generated decorators keep their buckets there, and users who call
// more often than they may. In the middle it kills a primary. It prints second by second what was admitted and what the
// limit allows, and exits with status 0 only if nobody was admitted more.
//
// It needs redis-server and redis-cli of Redis 7.0 or later, and leaves nothing behind.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	// Whatever ends this program, it ends what it has started. SIGPIPE does not: it may come from any connection that the
	// other side has closed, as those to a Redis server that was killed. See heard for the output.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var err error
	if len(os.Args) > 1 && os.Args[1] == serviceCommand {
		ctx, cancel := untilClosed(ctx, os.Stdin)
		err = serve(ctx, os.Stdout, os.Args[2:])
		cancel()
	} else {
		ctx, end := context.WithCancelCause(ctx)
		err = run(ctx, heard{os.Stdout, end}, plan{nodeTimeout: 2 * time.Second, before: 5 * time.Second, after: 5 * time.Second})
		end(nil)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "distributed:", err)
		os.Exit(1)
	}
}

// heard is a writer that ends a context when nobody reads what it writes any more.
type heard struct {
	io.Writer
	end context.CancelCauseFunc
}

// Write implements [io.Writer].
func (h heard) Write(p []byte) (int, error) {
	n, err := h.Writer.Write(p)
	if err != nil {
		h.end(err)
	}
	return n, err
}

// plan says what happens when.
type plan struct {
	nodeTimeout time.Duration // for which a server must not answer until the others call it dead
	before      time.Duration // for which the load lasts until a primary is killed
	after       time.Duration // and how long after Redis decides for everyone again
}

// patience is how long Redis may take to decide for everyone again. It takes a little more than the plan's nodeTimeout,
// but on a busy machine.
const patience = 30 * time.Second

// run starts all that it needs, carries out the plan and ends what it started. It returns an error unless the limits
// were kept.
func run(ctx context.Context, out io.Writer, p plan) error {
	r := newReport(out)
	r.tell("Starting a Redis Cluster of %d primaries with a replica each. They keep the buckets of %d users:", primaries, users)
	cluster, err := startCluster(ctx, p.nodeTimeout)
	if err != nil {
		return err
	}
	defer cluster.stop()
	for user := range users {
		primary, err := cluster.primaryOf(ctx, bucketOf(userName(user)))
		if err != nil {
			return err
		}
		r.accounts = append(r.accounts, &account{user: userName(user), primary: primary.addr})
	}
	for _, s := range cluster.servers[:primaries] {
		r.tell("  %s  pid %d  %s", s.addr, s.pid(), strings.Join(r.usersOf(s.addr), " "))
	}

	r.tell("Starting %d processes of a service that allows each user %d calls a second, and as many at once:", processes, rate)
	services, err := startServices(ctx, cluster.addrs(), func(name, line string) { r.event("process %s: %s", name, line) })
	if err != nil {
		return err
	}
	defer stopServices(services)
	for _, s := range services {
		r.tell("  %s  pid %d  %s", s.name, s.pid(), s.url)
	}

	r.tell("Each user now calls each process, every %v on average.\n", meanPause)
	if err := carryOut(ctx, p, cluster, services, r); err != nil {
		return err
	}
	return r.verdict()
}

// carryOut carries out the plan.
func carryOut(ctx context.Context, p plan, cluster *cluster, services []*service, r *report) error {
	ctx, end := context.WithCancelCause(ctx)
	c := &crew{end: end}
	defer c.Wait()
	defer end(nil)

	r.begin()
	load(ctx, c, services, r)
	seconds := time.NewTicker(time.Second)
	defer seconds.Stop()
	kill := time.After(p.before)
	var over <-chan time.Time
	recovered := r.recovered
	for {
		select {
		case <-seconds.C:
			r.second()
		case <-kill:
			key := bucketOf(userName(0))
			victim, err := cluster.primaryOf(ctx, key)
			if err != nil {
				return err
			}
			victim.kill()
			r.lost(victim.addr)
			over = time.After(patience)
			c.Go(func() {
				if heir, err := cluster.heir(ctx, key, victim); err == nil {
					r.event("%s has taken over from %s", heir.addr, victim.addr)
				}
			})
		case <-recovered:
			recovered = nil
			over = time.After(p.after)
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// crew is a group of goroutines. A panic of one ends what they do together, and not the program, since what that has
// started would live on.
type crew struct {
	sync.WaitGroup
	end context.CancelCauseFunc
}

// Go calls f in a goroutine.
func (c *crew) Go(f func()) {
	c.WaitGroup.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				c.end(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		f()
	})
}
