package limiters

import (
	"context"
	_ "embed"
	"strconv"
	"testing"

	"github.com/redis/rueidis"
)

//go:embed gcra.lua
var gcraScript string

// Rueidis asks Redis to run a plain GCRA script, by github.com/redis/rueidis, which sends the commands of concurrent callers
// in pipelines.
func Rueidis(t testing.TB, s Setting) Limiter {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: s.Redis, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	script, pace := rueidis.NewLuaScript(gcraScript), paceOf(s.Quota)
	arguments := []string{strconv.FormatInt(pace.interval/1000, 10), strconv.FormatInt(pace.tolerance/1000, 10)}
	return Ask(func(ctx context.Context, key int) (bool, error) {
		n, err := script.Exec(ctx, client, []string{s.Keys.String(key)}, arguments).AsInt64()
		return n == 0, err
	})
}
