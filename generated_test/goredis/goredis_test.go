package goredis_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/generated_test/goredis"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// servers are what the decorator is driven against.
var servers = []struct {
	name   string
	client func(t *testing.T) *redis.Client
}{
	{"miniredis", func(t *testing.T) *redis.Client {
		client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
		t.Cleanup(func() { client.Close() })
		return client
	}},
	{"redis", func(t *testing.T) *redis.Client { return redistest.Client(t) }},
}

func TestCmdable(t *testing.T) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			client := server.client(t)
			var cmds redis.Cmdable = goredis.NewRateLimitedCmdable(client, limittest.Limiter(t))
			ctx := ratelimit.WithCaller(t.Context(), "tenant", "acme")

			// Commands pass with their arguments, variadic ones and pointers to foreign types among them.
			if err := cmds.Set(ctx, "a", 1, time.Hour).Err(); err != nil {
				t.Fatal(err)
			}
			if err := cmds.MSet(ctx, "b", 2, "c", 3).Err(); err != nil {
				t.Fatal(err)
			}
			want(t, cmds.MGet(ctx, "a", "b", "c").Val(), []any{"1", "2", "3"})
			want(t, cmds.Del(ctx, "b", "c", "none").Val(), int64(2))
			want(t, cmds.SetArgs(ctx, "a", "2", redis.SetArgs{Get: true, KeepTTL: true}).Val(), "1")
			want(t, cmds.TTL(ctx, "a").Val() > 59*time.Minute, true)
			cmds.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "x"}, redis.Z{Score: 2, Member: "y"})
			want(t, cmds.ZRangeByScore(ctx, "z", &redis.ZRangeBy{Min: "2", Max: "3"}).Val(), []string{"y"})
			want(t, cmds.Eval(ctx, "return {KEYS[1], ARGV[1], ARGV[2]}", []string{"k"}, "x", 7).Val(), []any{"k", "x", "7"})
			want(t, cmds.Get(ctx, "none").Err(), error(redis.Nil))
			if got := client.Get(ctx, "a").Val(); got != "2" {
				t.Errorf("the server holds %q, want 2", got)
			}

			pipelined := func() error {
				cmd := (*redis.StringCmd)(nil)
				cmders, err := cmds.Pipelined(ctx, func(p redis.Pipeliner) error {
					cmd = p.Get(ctx, "a")
					return nil
				})
				if err == nil && (len(cmders) != 1 || cmd.Val() != "2") || err != nil && (cmders != nil || cmd != nil) {
					t.Errorf("Pipelined: got %v, %v", cmders, err)
				}
				return err
			}
			limittest.Admits(t, 2, "goredis.Cmdable.Pipelined", pipelined)
			// The line has one key, so that both kinds of pipelines share a bucket.
			limittest.Admits(t, 0, "goredis.Cmdable.TxPipelined", func() error {
				_, err := cmds.TxPipelined(ctx, func(redis.Pipeliner) error { return nil })
				return err
			})
			// A pipeline of no function is not limited: nothing but the line says what is.
			if _, err := cmds.Pipeline().Exec(ctx); err != nil {
				t.Error(err)
			}
			ctx = ratelimit.WithCaller(t.Context(), "tenant", "other")
			limittest.Admits(t, 2, "goredis.Cmdable.Pipelined", pipelined)
		})
	}
}

func want(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

// spy is a client whose every method would panic, but for what it overrides.
type spy struct {
	redis.Cmdable
	limittest.Calls
}

func (s *spy) BitOpAnd(_ context.Context, dest string, keys ...string) *redis.IntCmd {
	s.Add("BitOpAnd", dest, keys)
	return redis.NewIntResult(7, nil)
}

func TestVariadicIsPassedOnAsItIs(t *testing.T) {
	var next spy
	cmds := goredis.NewRateLimitedCmdable(&next, limittest.Limiter(t))
	keys := []string{"a", "b"}
	want(t, cmds.BitOpAnd(t.Context(), "dest", keys...).Val(), int64(7))
	next.Want(t, 1, "BitOpAnd", "dest", keys)
}

// wire is a hook that notes what would be sent, and sends nothing.
type wire struct{ sent []string }

func (w *wire) DialHook(next redis.DialHook) redis.DialHook { return next }

func (w *wire) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		w.sent = append(w.sent, fmt.Sprintf("%T %#v", cmd, cmd.Args()))
		return nil
	}
}

func (w *wire) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			w.sent = append(w.sent, fmt.Sprintf("pipelined %T %#v", cmd, cmd.Args()))
		}
		return nil
	}
}

// TestEveryMethodIsForwarded calls each method with random arguments, directly and through the decorator, and compares
// what reaches the wire.
func TestEveryMethodIsForwarded(t *testing.T) {
	var wire wire
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	client.AddHook(&wire)
	direct := reflect.ValueOf(client)
	decorated := reflect.ValueOf(goredis.NewRateLimitedCmdable(client, limittest.Limiter(t)))

	cmdable := reflect.TypeFor[redis.Cmdable]()
	if n := cmdable.NumMethod(); n < 300 {
		t.Fatalf("redis.Cmdable has %d methods, want hundreds", n)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range cmdable.NumMethod() {
		name := cmdable.Method(i).Name
		signature := cmdable.Method(i).Type
		args := make([]reflect.Value, signature.NumIn())
		for i := range args {
			args[i] = value(random, signature.In(i))
		}
		outcome := func(receiver reflect.Value) (what []string) {
			wire.sent = nil
			method := receiver.MethodByName(name)
			defer func() { // what the client does not accept, it must not accept through the decorator either
				if r := recover(); r != nil {
					what = append(wire.sent, fmt.Sprint("panic: ", r))
				}
			}()
			call := method.Call
			if signature.IsVariadic() {
				call = method.CallSlice
			}
			for _, result := range call(args) {
				what = append(what, fmt.Sprintf("%T", result.Interface()))
			}
			return append(wire.sent, what...)
		}
		if got, want := outcome(decorated), outcome(direct); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// value returns a random value of type t, deep enough to tell arguments apart.
func value(random *rand.Rand, t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 1)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int8:
		v.SetInt(1 + random.Int64N(100))
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint8:
		v.SetUint(1 + random.Uint64N(100))
	case reflect.Float64:
		v.SetFloat(random.Float64())
	case reflect.String:
		v.SetString(fmt.Sprint("s", random.Uint64()))
	case reflect.Slice:
		for range 2 {
			v.Set(reflect.Append(v, value(random, t.Elem())))
		}
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(value(random, t.Elem()))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(value(random, t.Field(i).Type))
			}
		}
	case reflect.Func: // of a pipeline
		v.Set(reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.Zero(t.Out(0))} }))
	case reflect.Interface:
		switch {
		case t == reflect.TypeFor[context.Context]():
			v.Set(reflect.ValueOf(ratelimit.WithCaller(context.Background(), "tenant", "acme")))
		case t.NumMethod() == 0:
			v.Set(reflect.ValueOf(fmt.Sprint("v", random.Uint64())))
		}
	}
	return v
}
