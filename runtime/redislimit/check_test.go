package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	"github.com/ratelimitgen/ratelimitgen/lua"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

func ExampleStore_Check() {
	server, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { _ = client.Close() }()

	store := redislimit.New(client)
	fmt.Println(store.Check(context.Background()), server.Keys())

	server.SetTime(time.Unix(0, 0)) // some servers do not know the time
	var failed *redislimit.Error
	if errors.As(store.Check(context.Background()), &failed) {
		fmt.Println(failed.Kind)
	}
	store = redislimit.New(client, redislimit.ClientTime())
	fmt.Println(store.Check(context.Background()))
	// Output:
	// <nil> []
	// clock
	// <nil>
}

// leastRights are the rules that docs/redis.md tells for a user of the Store's.
func leastRights(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^ACL SETUSER limiter on >secret (~.*)$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("docs/redis.md tells no rights")
	}
	return strings.Fields(string(found[1]))
}

// A user may run what the scripts run, and the scripts, and no more.
func TestLeastRightsAreThoseOfTheScripts(t *testing.T) {
	want := []string{"+eval", "+evalsha", "~rl:*"}
	for _, found := range regexp.MustCompile(`call\('([A-Z]+)'`).FindAllStringSubmatch(lua.Take+lua.Peek+lua.Refund+lua.Renew, -1) {
		want = append(want, "+"+strings.ToLower(found[1]))
	}
	slices.Sort(want)
	want = slices.Compact(want)
	got := slices.Sorted(slices.Values(leastRights(t)))
	if !slices.Equal(got, want) {
		t.Errorf("docs/redis.md tells\n%v, want\n%v", got, want)
	}
}

// checked returns the error of Check by a client of one server, of which it must leave nothing.
func checked(t *testing.T, server, user *redis.Options, opts ...redislimit.Option) error {
	t.Helper()
	client := redis.NewClient(user)
	defer func() { _ = client.Close() }()
	err := redislimit.New(client, opts...).Check(t.Context())
	root := redis.NewClient(server)
	defer func() { _ = root.Close() }()
	if keys := root.Keys(t.Context(), "*").Val(); len(keys) != 0 {
		// What cannot be removed expires.
		for _, key := range keys {
			if ttl := root.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > 2*time.Minute {
				t.Errorf("left behind is %s, for %v", key, ttl)
			}
		}
		if err == nil {
			t.Errorf("left behind is %q", keys)
		}
		root.FlushAll(t.Context())
	}
	return err
}

// said returns what a server says to a client that may not even ping it, each version in its own words.
func said(t *testing.T, options *redis.Options) string {
	t.Helper()
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	err := client.Ping(t.Context()).Err()
	if err == nil {
		t.Fatal("the server lets the client in")
	}
	return err.Error()
}

// checkError fails the test unless Check has found one thing.
func checkError(t *testing.T, err error, kind redislimit.Kind, want string) {
	t.Helper()
	var e *redislimit.Error
	switch {
	case !errors.As(err, &e):
		t.Errorf("error %v: want %s", err, want)
	case err.Error() != want:
		t.Errorf("error\n%v, want\n%s", err, want)
	case e.Kind != kind || e.Method != "check":
		t.Errorf("error of kind %q, method %s: want %q, check", e.Kind, e.Method, kind)
	}
}

func TestCheckByUserWithTheLeastRights(t *testing.T) {
	server := redistest.Server(t)
	least := leastRights(t)
	if err := checked(t, server, redistest.User(t, server, "limiter", least...)); err != nil {
		t.Error(err)
	}
	for _, right := range least {
		t.Run(right, func(t *testing.T) {
			user := redistest.User(t, server, "limiter", slices.DeleteFunc(slices.Clone(least), func(r string) bool { return r == right })...)
			want := fmt.Sprintf(`redislimit: check "rl:*": %s: the user lacks %s`, server.Addr, right)
			if right == "+set" { // without which Check does not try to make a list
				want += " +rpush"
			}
			checkError(t, checked(t, server, user), redislimit.KindForbidden, want)
		})
	}
}

// Of all that is wrong with a user one is told at once.
func TestCheckByUserWithWrongRights(t *testing.T) {
	server := redistest.Server(t)
	prefix := `redislimit: check "rl:*": ` + server.Addr + ": "
	tests := []struct {
		rules []string
		want  string
	}{
		{[]string{}, "the user lacks +eval +evalsha +time +set +get +pttl +pexpire +lindex +llen +lset +ltrim +rpush +zadd " +
			"+zcount +zrem +zremrangebyscore +zrevrange +zscore +del"},
		{[]string{"+@all", "~other:*"}, "the user lacks ~rl:*"},
		{[]string{"+@all", "~other:*", "-zadd", "-time"}, "the user lacks +time +zadd ~rl:*"},
		{[]string{"+@all", "~*", "-@sortedset", "-@scripting"}, "the user lacks +eval +evalsha +zadd +zcount +zrem +zremrangebyscore +zrevrange +zscore"},
		{[]string{"+@all", "%R~rl:*"}, "the user lacks ~rl:*"}, // may read, not write
	}
	for _, test := range tests {
		t.Run(strings.Join(test.rules, " "), func(t *testing.T) {
			if slices.Contains(test.rules, "%R~rl:*") {
				redistest.Since(t, 7, "rights to read only")
			}
			user := redistest.User(t, server, "ann", test.rules...)
			checkError(t, checked(t, server, user), redislimit.KindForbidden, prefix+test.want)
		})
	}

	third := *redistest.User(t, server, "ann", leastRights(t)...)
	third.DB = 3
	checkError(t, checked(t, server, &third), redislimit.KindForbidden, prefix+said(t, &third))

	user := redistest.User(t, server, "ann", "+@all", "-time", `~a\*b:*`)
	if err := checked(t, server, user, redislimit.ClientTime(), redislimit.Prefix("a*b:")); err != nil {
		t.Errorf("with the time of the client: %v", err)
	}
	checkError(t, checked(t, server, user, redislimit.ClientTime(), redislimit.Prefix("[x]:")), redislimit.KindForbidden,
		`redislimit: check "[x]:*": `+server.Addr+`: the user lacks ~\[x\]:*`)
	user.Password = "wrong"
	checkError(t, checked(t, server, user), redislimit.KindForbidden, prefix+said(t, user))
	anybody := redis.NewClient(server)
	defer func() { _ = anybody.Close() }()
	root := redistest.User(t, server, "root", "+@all", "~*")
	if err := anybody.ACLSetUser(t.Context(), "default", "resetpass", ">other").Err(); err != nil {
		t.Fatal(err)
	}
	checkError(t, checked(t, root, server), redislimit.KindForbidden, prefix+"NOAUTH Authentication required.")
}

func TestCheckOfOtherFaults(t *testing.T) {
	t.Run("nobody is there", func(t *testing.T) {
		client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", DialerRetries: 1})
		defer func() { _ = client.Close() }()
		checkError(t, redislimit.New(client).Check(t.Context()), redislimit.KindConnection,
			`redislimit: check "rl:*": 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused`)
	})
	t.Run("a server that loads its data", func(t *testing.T) {
		client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
		defer func() { _ = client.Close() }()
		client.AddHook(&intercept{answer: func(redis.Cmder) (bool, error) {
			return true, serverError("LOADING Redis is loading the dataset in memory")
		}})
		checkError(t, redislimit.New(client).Check(t.Context()), redislimit.KindLoading,
			`redislimit: check "rl:*": 127.0.0.1:1: LOADING Redis is loading the dataset in memory`)
	})
	t.Run("a replica", func(t *testing.T) {
		server := redistest.Server(t)
		client := redis.NewClient(server)
		defer func() { _ = client.Close() }()
		if err := client.ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
			t.Fatal(err)
		}
		err := redislimit.New(client).Check(t.Context())
		var e *redislimit.Error
		if !errors.As(err, &e) || e.Kind != redislimit.KindReadOnly || !strings.HasPrefix(err.Error(), `redislimit: check "rl:*": `+server.Addr+": ") || !strings.Contains(err.Error(), "READONLY You can't write") {
			t.Errorf("error %v: want READONLY", err) // after words of the script's, before Redis 7.0
		}
	})
	t.Run("a server that does not know the time", func(t *testing.T) {
		server := miniredis.RunT(t)
		server.SetTime(time.Unix(0, 0))
		options := &redis.Options{Addr: server.Addr()}
		checkError(t, checked(t, options, options), redislimit.KindClock,
			`redislimit: check "rl:*": `+server.Addr()+`: ERR ratelimit: the server does not know the time`)
		if err := checked(t, options, options, redislimit.ClientTime()); err != nil {
			t.Errorf("with the time of the client: %v", err)
		}
	})
	t.Run("no memory", func(t *testing.T) {
		server := redistest.Server(t)
		client := redis.NewClient(server)
		defer func() { _ = client.Close() }()
		if err := client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
			t.Fatal(err)
		}
		var e *redislimit.Error
		if err := checked(t, server, server); !errors.As(err, &e) || e.Kind != redislimit.KindMemory {
			t.Errorf("error %v: want one of kind %s", err, redislimit.KindMemory)
		}
	})
	t.Run("no client", func(t *testing.T) {
		checkError(t, redislimit.New(nil).Check(t.Context()), redislimit.KindMisconfigured,
			`redislimit: check "rl:*": misconfigured: no client`)
	})
}
