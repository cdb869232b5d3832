package redislimit_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// fake is a client whose server is a function of the test's. By default it allows everything.
type fake struct {
	mu   sync.Mutex
	sent []string // the first keys, in the order of the commands
	args [][]any  // of the commands
	do   func(ctx context.Context, key string) error

	replies map[string][]any // by key, the next ones
	runs    bool             // whether its clock is that of the process, and does not stand still
}

// serve has do answer from now on; nil allows everything.
func (f *fake) serve(do func(ctx context.Context, key string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.do = do
}

// count returns how many commands were sent since it was last asked.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.sent)
	f.sent = nil
	return n
}

// fakePipeline has the commands of a pipeline processed one by one.
type fakePipeline struct {
	redis.Pipeliner // for what nobody calls
	fake            *fake
	cmds            []redis.Cmder
}

func (f *fake) Pipeline() redis.Pipeliner { return &fakePipeline{fake: f} }

func (p *fakePipeline) Process(_ context.Context, cmd redis.Cmder) error {
	p.cmds = append(p.cmds, cmd)
	return nil
}

func (p *fakePipeline) Exec(ctx context.Context) ([]redis.Cmder, error) {
	var errs []error
	for _, cmd := range p.cmds {
		err := p.fake.Process(ctx, cmd)
		cmd.SetErr(err)
		errs = append(errs, err)
	}
	return p.cmds, cmp.Or(errs...)
}

func (f *fake) Process(ctx context.Context, cmd redis.Cmder) error {
	at := 3 // of a script
	if cmd.Name() == "del" {
		at = 1
	}
	key := cmd.Args()[at].(string)
	f.mu.Lock()
	f.sent, f.args = append(f.sent, key), append(f.args, cmd.Args())
	do := f.do
	var reply any
	if next := f.replies[key]; len(next) > 0 {
		reply, f.replies[key] = next[0], next[1:]
	}
	f.mu.Unlock()
	var err error
	if do != nil {
		err = do(ctx, key)
	}
	if script, ok := cmd.(interface{ SetVal(any) }); ok {
		if reply == nil {
			reply = allowed(cmd.Args())
		}
		if values, ok := reply.([]any); ok && f.runs {
			reply = slices.Concat(values[:len(values)-1], []any{time.Now().UnixMicro()})
		}
		script.SetVal(reply)
	}
	return err
}

// allowed returns the reply to a script that admits what it is asked, of equal calls up to five.
func allowed(args []any) (reply []any) {
	texts := args[4+args[2].(int):] // after the keys and the time
	for len(texts) > 0 {
		var charges, asks, calls int
		counts := strings.Fields(texts[0].(string))
		if n, _ := fmt.Sscan(texts[0].(string), &charges, &asks); n != 2 { // not of take
			charges, asks, counts, texts = 1, 1, nil, append(texts[:1:1], texts...)
		}
		for i := range asks {
			if calls = 1; len(counts) > 2 {
				calls, _ = strconv.Atoi(counts[2+i])
			}
			if calls > 1 {
				reply = append(reply, int64(min(calls, 5)))
			}
			for range charges {
				left := int64(5 - min(calls, 5))
				switch {
				case calls > 5:
					reply = append(reply, int64(1), left, int64(1), int64(0))
				case calls > 1:
					reply = append(reply, int64(0), left, int64(1), int64(0))
				default:
					reply = append(reply, int64(0), left, int64(1))
				}
			}
		}
		texts = texts[1+charges:]
	}
	return append(reply, int64(1))
}

// hang is a server that answers no more, at the other end of a client that looks at its own timeout only.
func hang(context.Context, string) error {
	time.Sleep(3 * time.Second)
	return os.ErrDeadlineExceeded
}

// hangFor is a server that hangs for one key only.
func hangFor(one string) func(context.Context, string) error {
	return func(ctx context.Context, key string) error {
		if key == one {
			return hang(ctx, key)
		}
		return nil
	}
}

// noRoute is a server that cannot be connected to, at the other end of a client that goes on trying.
func noRoute(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// after is a server that takes its time.
func after(d time.Duration) func(context.Context, string) error {
	return func(context.Context, string) error {
		time.Sleep(d)
		return nil
	}
}

// failing is a server that answers an error.
func failing(text string) func(context.Context, string) error {
	return func(context.Context, string) error { return serverError(text) }
}

// takeOne returns the error of a take, and how long it took.
func takeOne(ctx context.Context, store *redislimit.Store, key string) (time.Duration, error) {
	start := time.Now()
	err := store.Take(ctx, tb(key, 1), make([]ratelimit.Result, 1))
	return time.Since(start), err
}

// kindOf returns the kind of an error, or "" if it is none of the Store's.
func kindOf(err error) redislimit.Kind {
	if e, ok := errors.AsType[*redislimit.Error](err); ok {
		return e.Kind
	}
	return ""
}

// fails fails the test unless so many takes end with errors of a kind.
func fails(t *testing.T, store *redislimit.Store, key string, n int, want redislimit.Kind) {
	t.Helper()
	for i := range n {
		if i > 0 && want != "" && want != redislimit.KindOutage {
			time.Sleep(50 * time.Millisecond) // five failures last long enough to take the server off
		}
		if _, err := takeOne(t.Context(), store, key); kindOf(err) != want {
			t.Fatalf("call %d: %v: want kind %q", i, err, want)
		}
	}
}

// inFakeTime runs a test in which time passes when all wait, and lets the flights that it has abandoned land.
func inFakeTime(t *testing.T, test func(*testing.T)) {
	t.Helper()
	fakeTime(t, func(t *testing.T) {
		defer time.Sleep(time.Minute)
		test(t)
	})
}
