package lua

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

// servers runs a test on a real server and on miniredis, whose Lua is another one.
func servers(t *testing.T, test func(t *testing.T, client *redis.Client)) {
	t.Run("redis", func(t *testing.T) { test(t, redistest.Client(t)) })
	t.Run("miniredis", func(t *testing.T) {
		client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
		defer func() { _ = client.Close() }()
		test(t, client)
	})
}

// The ranges that arithmetic.lua states for muldiv.
const (
	maxA        = 1<<53 - 1
	maxB        = 1<<53 - 1
	maxC        = 1<<49 - 1
	maxQuotient = 1<<53 - 1
)

func TestMuldivIsExact(t *testing.T) {
	const script = `
local reply = {}
for i = 1, #ARGV, 3 do
  local quotient, rest = muldiv(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]))
  reply[#reply + 1] = string.format('%d %d', quotient, rest)
end
return reply`
	const batch, batches = 500, 100
	servers(t, func(t *testing.T, client *redis.Client) {
		slow := 0
		for seed := range uint64(batches) {
			random := rand.New(rand.NewPCG(seed, 0))
			var args []any
			var want []string
			for len(want) < batch {
				a, b, c := edge(random, maxA), edge(random, maxB), max(1, edge(random, maxC))
				product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
				quotient, rest := new(big.Int).DivMod(product, big.NewInt(c), new(big.Int))
				if quotient.Cmp(big.NewInt(maxQuotient)) > 0 {
					continue
				}
				if product.BitLen() > 53 {
					slow++
				}
				args = append(args, a, b, c)
				want = append(want, quotient.String()+" "+rest.String())
			}
			compare(t, client, script, args, want)
		}
		if slow < batch*batches/4 {
			t.Errorf("%d of %d products are above 2^53: want at least a quarter", slow, batch*batches)
		}
	})
}

func TestDivupIsExact(t *testing.T) {
	const script = `
local reply = {}
for i = 1, #ARGV, 2 do
  reply[#reply + 1] = string.format('%d', divup(tonumber(ARGV[i]), tonumber(ARGV[i + 1])))
end
return reply`
	servers(t, func(t *testing.T, client *redis.Client) {
		random := rand.New(rand.NewPCG(1, 0))
		var args []any
		var want []string
		for range 2000 {
			a, b := edge(random, maxA), max(1, edge(random, maxB))
			if random.IntN(2) == 0 {
				a = -a
			}
			quotient, rest := new(big.Int).DivMod(big.NewInt(a), big.NewInt(b), new(big.Int))
			if rest.Sign() > 0 {
				quotient.Add(quotient, big.NewInt(1))
			}
			args = append(args, a, b)
			want = append(want, quotient.String())
		}
		compare(t, client, script, args, want)
	})
}

// edge returns an integer from 0 to limit: of any size, or next to a power of two or ten, where rounding shows.
func edge(random *rand.Rand, limit int64) int64 {
	n := random.Int64N(limit + 1)
	switch random.IntN(4) {
	case 0:
		n >>= random.IntN(53)
	case 1:
		n = 1<<random.IntN(53) + random.Int64N(3) - 1
	case 2:
		n = 1
		for range random.IntN(16) {
			n *= 10
		}
		n += random.Int64N(3) - 1
	}
	return min(max(n, 0), limit)
}

func compare(t *testing.T, client *redis.Client, script string, args []any, want []string) {
	t.Helper()
	got, err := client.Eval(t.Context(), "local EXACT = 2^53\n"+arithmetic+script, nil, args...).StringSlice()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d answers: want %d", len(got), len(want))
	}
	each := len(args) / len(want)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%v: got %s, want %s", args[i*each:(i+1)*each], got[i], want[i])
		}
	}
}

// S06, S07: whatever is no key travels as an argument, and each key that a script touches is a declared one. No server
// but a cluster's would notice otherwise.
func TestScriptsTouchDeclaredKeysOnly(t *testing.T) {
	keys := 0
	for _, text := range []string{Take, Peek, Refund, Renew} {
		for line := range strings.Lines(text) {
			_, call, found := strings.Cut(line, "call('")
			if !found || strings.HasPrefix(call, "TIME'") {
				continue
			}
			keys++
			_, args, _ := strings.Cut(call, ", ")
			if !strings.HasPrefix(args, "b.key") && !strings.HasPrefix(args, "KEYS[") {
				t.Errorf("touches another key than that of a bucket: %s", line)
			}
		}
	}
	if keys == 0 {
		t.Error("found no redis.call at all")
	}
	set := 0
	for line := range strings.Lines(Take + Peek) {
		_, key, found := strings.Cut(line, ".key = ")
		if !found {
			continue
		}
		set++
		if !strings.HasPrefix(key, "KEYS[") {
			t.Errorf("the key of a bucket is not a declared one: %s", line)
		}
	}
	if set == 0 {
		t.Error("no bucket has a key")
	}
}
