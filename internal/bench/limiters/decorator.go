package limiters

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters/service"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// DecoratorPerIP makes a decorator in front of a method that does nothing, with a limit for each client IP. The context of
// a call has the IP, as httplimit.Middleware puts it there. Contexts are made in the order in which they are used, so that
// they are about as near at hand as that of a request, which was made just before.
func DecoratorPerIP(t testing.TB, s Setting) Limiter {
	svc := decorate(t)
	contexts := make([]context.Context, s.Keys.Len())
	for i := range contexts {
		var addr [4]byte
		key := s.Keys.Nth(i)
		binary.BigEndian.PutUint32(addr[:], 10<<24+uint32(key))
		contexts[key] = ratelimit.WithClientIP(context.Background(), netip.AddrFrom4(addr))
	}
	return Ask(func(_ context.Context, key int) (bool, error) { return verdict(svc.PerIP(contexts[key])) })
}

// DecoratorShared makes a decorator in front of a method that does nothing, with a limit for all.
func DecoratorShared(t testing.TB, _ Setting) Limiter {
	svc := decorate(t)
	return Ask(func(ctx context.Context, _ int) (bool, error) { return verdict(svc.Shared(ctx)) })
}

// DecoratorTemplate makes a decorator in front of a method that does nothing, with a limit by a string and an integer.
func DecoratorTemplate(t testing.TB, _ Setting) Limiter {
	svc := decorate(t)
	return Ask(func(ctx context.Context, key int) (bool, error) {
		return verdict(svc.Template(ctx, "acme", int64(key)))
	})
}

// Guards makes what decorators ask, for a number of methods with a limit each, which are called in turns.
func Guards(n int) Maker {
	return func(t testing.TB, s Setting) Limiter {
		limiter, guards := newLimiter(t), make([]*ratelimit.Guard, n)
		for i := range guards {
			name := "service.Service.Method" + strconv.Itoa(i)
			guards[i] = limiter.Guard(name, ratelimit.Rule{
				Key:   name,
				Limit: ratelimit.Limit{Count: s.Quota.Count, Period: s.Quota.Period, Burst: s.Quota.Burst},
			})
		}
		return Ask(func(ctx context.Context, key int) (bool, error) { return verdict(guards[key%n].Allow(ctx)) })
	}
}

// DecoratorFree makes a decorator in front of a method that does nothing and has no limit.
func DecoratorFree(t testing.TB, _ Setting) Limiter { return free(decorate(t)) }

// Direct calls a method that does nothing, through its interface.
func Direct(testing.TB, Setting) Limiter { return free(service.Empty{}) }

// free calls the method without knowing whose it is.
//
//go:noinline
func free(svc service.Service) Limiter {
	return Ask(func(ctx context.Context, _ int) (bool, error) { return verdict(svc.Free(ctx)) })
}

func decorate(t testing.TB) service.Service {
	return service.NewRateLimitedService(service.Empty{}, newLimiter(t))
}

func newLimiter(t testing.TB) *ratelimit.Limiter {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// verdict tells a refusal from what is an error.
func verdict(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if errors.Is(err, ratelimit.ErrLimited) {
		return false, nil
	}
	return false, err
}
