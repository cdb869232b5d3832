package ratelimit_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// What a context says of its calls holds through contexts that are made of it, in whatever order it was said.
func TestContextHoldsAddressAndRecorder(t *testing.T) {
	addr := netip.MustParseAddr("203.0.113.7")
	first, second := &outcomeLog{}, &outcomeLog{}
	ctx := ratelimit.WithRecorder(ratelimit.WithClientIP(t.Context(), addr), first)
	ctx, cancel := context.WithCancel(ctx)
	outer := ratelimit.WithRecorder(ctx, second)
	inner := ratelimit.WithClientIP(outer, netip.Addr{})
	if got, ok := ratelimit.ClientIP(outer); got != addr || !ok {
		t.Errorf("the address is %v, %t: want %v", got, ok, addr)
	}
	if got, ok := ratelimit.ClientIP(inner); got.IsValid() || ok {
		t.Errorf("the address is %v, %t after one that is not known: want none", got, ok)
	}
	guard := newLimiter(t, memlimit.New()).Guard("m", ratelimit.Rule{
		Key: "get:{@ip}", OnEmpty: ratelimit.EmptyShare,
		Limit: ratelimit.Limit{Count: 5, Period: time.Second},
	})
	for _, ctx := range []context.Context{outer, inner} {
		if err := guard.Allow(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for i, log := range []*outcomeLog{first, second} {
		if len(log.lines) != 2 {
			t.Errorf("recorder %d was told of %d calls: want 2", i+1, len(log.lines))
		}
	}
	if want := "m 1s true 4 of 5"; first.lines[0] != want || first.lines[1] != want { // of two buckets
		t.Errorf("recorded %q: want %q twice", first.lines, want)
	}
	cancel()
	if err := guard.Allow(inner); err == nil {
		t.Error("a call whose context has ended is allowed")
	}
}

func TestContextIsPrintedAsItWasMade(t *testing.T) {
	addr := netip.MustParseAddr("203.0.113.7")
	recorded := ratelimit.WithRecorder(context.Background(), &outcomeLog{})
	for _, tt := range []struct {
		ctx  context.Context
		want string
	}{
		{ratelimit.WithClientIP(context.Background(), addr), "context.Background.WithClientIP(203.0.113.7)"},
		{recorded, "context.Background.WithRecorder"},
		{ratelimit.WithClientIP(recorded, addr), "context.Background.WithRecorder.WithClientIP(203.0.113.7)"},
		{
			ratelimit.WithRecorder(ratelimit.WithClientIP(context.Background(), addr), &outcomeLog{}),
			"context.Background.WithClientIP(203.0.113.7).WithRecorder",
		},
	} {
		if got := fmt.Sprint(tt.ctx); got != tt.want {
			t.Errorf("the context is printed as %q: want %q", got, tt.want)
		}
	}
}

// outcomeLog is a Recorder that writes down what it is told.
type outcomeLog struct{ lines []string }

func (l *outcomeLog) Record(method string, outcomes []ratelimit.Outcome) {
	for _, o := range outcomes {
		l.lines = append(l.lines, fmt.Sprintf("%s %s %t %d of %d", method, o.Name, o.Result.Allowed, o.Result.Remaining, o.Result.Limit))
	}
}
