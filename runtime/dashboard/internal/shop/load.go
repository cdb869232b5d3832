package shop

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// customers call the shop, a few of them often and most of them rarely, each from an address of its own.
	customers = 5000
	// step is how often the load is made anew.
	step = 50 * time.Millisecond
	// wave is how long it takes the load to rise, fall and rise again.
	wave = 90 * time.Second
)

// Load calls a Shop as its customers would, until ctx ends. Equal seeds are equal customers.
func Load(ctx context.Context, s Shop, seed uint64) {
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // the same load each time is what is wanted
	l := &load{shop: s, random: random, who: rand.NewZipf(random, 1.3, 12, customers-1)}
	defer l.exports.Wait()
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for begin := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			l.calls(ctx, now.Sub(begin))
		}
	}
}

type load struct {
	shop    Shop
	random  *rand.Rand
	who     *rand.Zipf
	exports sync.WaitGroup
}

// calls makes those of one step. What the shop answers is on the page.
func (l *load) calls(ctx context.Context, since time.Duration) {
	swing := 1 + 0.35*math.Sin(2*math.Pi*since.Seconds()/wave.Seconds())
	for range l.some(180 * swing) {
		_, _ = l.shop.Search(l.caller(ctx), "teapot")
	}
	for range l.some(8) {
		password := "correct"
		if l.random.IntN(4) == 0 {
			password = "guess"
		}
		_ = l.shop.Login(l.caller(ctx), l.customer(), password)
	}
	if since%wave > wave/2 && since%wave < wave*3/4 { // somebody tries passwords
		for range l.some(25) {
			_ = l.shop.Login(ratelimit.WithClientIP(ctx, netip.MustParseAddr("203.0.113.66")), "admin", "guess")
		}
	}
	for range l.some(20 * swing) {
		_ = l.shop.Order(l.caller(ctx), "teapot")
	}
	for range l.some(60 * swing) {
		_, _ = l.shop.Recommend(l.caller(ctx), "teapot")
	}
	for range l.some(1.5) {
		runs := time.Duration(500+l.random.IntN(3000)) * time.Millisecond
		l.exports.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, runs)
			defer cancel()
			_ = l.shop.Export(ctx)
		})
	}
}

// some returns how many calls a step has, of that many a second on average.
func (l *load) some(aSecond float64) int {
	n := aSecond * step.Seconds() * (0.6 + 0.8*l.random.Float64())
	whole := math.Floor(n)
	if l.random.Float64() < n-whole {
		whole++
	}
	return int(whole)
}

func (l *load) customer() string { return fmt.Sprintf("customer-%d", l.who.Uint64()) }

// caller returns the context of a call by some customer.
func (l *load) caller(ctx context.Context) context.Context {
	n := l.who.Uint64()
	ctx = ratelimit.WithClientIP(ctx, netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)})) //nolint:gosec // the low bytes
	return ratelimit.WithCaller(ctx, "user", fmt.Sprintf("customer-%d", n))
}
