package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S03, S04, S16, S17, S20: what servers answer, each in its own words, and a server of before 7.0 in those of the script.
func TestKindsOfReplies(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const (
			old = "ERR Error running script (call to f_104ae65debf45156ded1e8e613705534c8e62c17): @user_script:88: "
			new = " script: 104ae65debf45156ded1e8e613705534c8e62c17, on @user_script:88."
			of9 = " script: on @user_script:88." // of Valkey 9
		)
		tests := []struct {
			reply string
			kind  redislimit.Kind
		}{
			{"LOADING Redis is loading the dataset in memory", "loading"},
			{"LOADING Valkey is loading the dataset in memory", "loading"},

			{"READONLY You can't write against a read only replica.", "readonly"},
			{"READONLY You can't write against a read only replica." + new, "readonly"},
			{old + "-READONLY You can't write against a read only replica.", "readonly"},
			{old + "@user_script: 88: -READONLY You can't write against a read only slave.", "readonly"},
			{"READONLY You can't write against a read only replica." + of9, "readonly"},
			{"NOREPLICAS Not enough good replicas to write." + new, "readonly"},
			{old + "-NOREPLICAS Not enough good replicas to write.", "readonly"},
			{"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled" + new, "readonly"},
			{old + "-MISCONF Errors writing to the AOF file: No space left on device", "readonly"},

			{"CLUSTERDOWN The cluster is down", "clusterdown"},
			{"CLUSTERDOWN Hash slot not served", "clusterdown"},
			{"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "clusterdown"},
			{old + "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "clusterdown"},
			{"TRYAGAIN Multiple keys request during rehashing of slot", "clusterdown"},
			{"MOVED 3999 127.0.0.1:6381", "clusterdown"},
			{"ASK 3999 127.0.0.1:6381", "clusterdown"},

			{"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", "busy"},
			{"BUSY Valkey is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.", "busy"},
			{"BUSY Redict is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", "busy"},

			{"OOM command not allowed when used memory > 'maxmemory'.", "memory"},
			{"OOM command not allowed when used memory > 'maxmemory'." + new, "memory"},
			{old + "-OOM command not allowed when used memory > 'maxmemory'.", "memory"},
			{old + "@user_script: 88: -OOM command not allowed when used memory > 'maxmemory'.", "memory"},
			{"OOM command not allowed when used memory > 'maxmemory'." + of9, "memory"},

			{"NOAUTH Authentication required.", "forbidden"},
			{"NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time", "forbidden"},
			{"WRONGPASS invalid username-password pair or user is disabled.", "forbidden"},
			{"WRONGPASS invalid username-password pair", "forbidden"},
			{"NOPERM this user has no permissions to run the 'evalsha' command", "forbidden"},
			{"NOPERM User limited has no permissions to run the 'evalsha' command", "forbidden"},
			{"NOPERM No permissions to access a key", "forbidden"},
			{"NOPERM this user has no permissions to run the 'set' command or its subcommand", "forbidden"},
			{"NOPERM this user has no permissions to access one of the keys used as arguments", "forbidden"},
			{"ERR The user executing the script can't run this command or subcommand" + new, "forbidden"},
			{"ERR The user executing the script can't access at least one of the keys mentioned in the command arguments" + new, "forbidden"},
			{old + "The user executing the script can't run this command or subcommand", "forbidden"},
			{old + "@user_script: 88: The user executing the script can't access at least one of the keys mentioned in the command arguments", "forbidden"},
			{"ERR ACL failure in script: User limited has no permissions to run the 'time' command" + new, "forbidden"},
			{"ERR ACL failure in script: No permissions to access a key" + of9, "forbidden"},

			{"WRONGTYPE Operation against a key holding the wrong kind of value", "foreign"},
			{"WRONGTYPE Operation against a key holding the wrong kind of value" + new, "foreign"},
			{"WRONGTYPE Operation against a key holding the wrong kind of value" + of9, "foreign"},
			{old + "WRONGTYPE Operation against a key holding the wrong kind of value", "foreign"},
			{"ERR ratelimit: unreadable state", "foreign"},

			{"ERR ratelimit: the server does not know the time", "clock"},
			{"ERR max number of clients reached", "connection"},
			{"ERR max number of clients + cluster connections reached", "connection"},

			{"CROSSSLOT Keys in request don't hash to the same slot", "misconfigured"},
			{"ERR This instance has cluster support disabled", "misconfigured"},

			{"ERR unknown command 'evalsha'", "server"},
			{old + "@user_script: 88: Unknown Redis command called from Lua script", "server"},
			{"NOSCRIPT No matching script. Please use EVAL.", "server"}, // to the script itself
			{"BUSYGROUP Consumer Group name already exists", "server"},
			{"ERR proxy: -OOM command not allowed", "memory"},
			{"ERR proxy: READONLY node", "readonly"},
			{"", "server"},
		}
		for _, test := range tests {
			client := &fake{do: failing(test.reply)}
			_, err := takeOne(t.Context(), redislimit.NewOn(client, nil), "a")
			if kind := kindOf(err); kind != test.kind {
				t.Errorf("%q is of kind %q: want %q", test.reply, kind, test.kind)
			}
			if !errors.Is(err, serverError(test.reply)) || err.Error() != `redislimit: take "rl:{a}:tb:1m": `+test.reply {
				t.Errorf("error %v: want one that wraps %q", err, test.reply)
			}
		}
	})
}

func TestKindsOfWhatTheClientSays(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		dial := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
		read := &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
		tests := []struct {
			err  error
			kind redislimit.Kind
		}{
			{io.EOF, "connection"},
			{io.ErrUnexpectedEOF, "connection"},
			{fmt.Errorf("write: %w", syscall.ECONNRESET), "connection"},
			{&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, "connection"},
			{dial, "connection"},
			{read, "timeout"},
			{redis.ErrPoolTimeout, "timeout"},
			{redis.ErrPoolExhausted, "connection"},
			{redis.ErrClosed, "connection"},
			{errors.New("redis: all ring shards are down"), "connection"},
			{redis.Nil, "reply"},
		}
		for _, test := range tests {
			client := &fake{do: func(context.Context, string) error { return test.err }}
			_, err := takeOne(t.Context(), redislimit.NewOn(client, nil), "a")
			if kind := kindOf(err); kind != test.kind || !errors.Is(err, test.err) {
				t.Errorf("%v is of kind %q: want %q", err, kind, test.kind)
			}
		}
	})
}

// The error tells what was to be done to which keys, for whoever wants to count or show it.
func TestErrorTellsMethodAndKeys(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: failing("BUSY Redis is busy running a script.")}
		store := redislimit.NewOn(client, nil)
		err := store.Take(t.Context(), append(tb("a", 1), fw("a\x00", 1)...), make([]ratelimit.Result, 2))
		e, ok := errors.AsType[*redislimit.Error](err)
		if !ok || e.Method != "take" || !slices.Equal(e.Keys, []string{"rl:{a}:tb:1m", "rl:{a\x00}:fw:1m"}) || e.Kind != redislimit.KindBusy {
			t.Errorf("%#v", e)
		}
		if want := `redislimit: take "rl:{a}:tb:1m", "rl:{a\x00}:fw:1m": BUSY Redis is busy running a script.`; err.Error() != want {
			t.Errorf("error %v: want %s", err, want)
		}
	})
}

// What the client says of its own timeouts must not look like the caller's.
func TestTimeoutsOfTheClientAreNotTheCallers(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		type cause struct{ error }
		err := fmt.Errorf("dial: %w, %w", context.DeadlineExceeded, cause{errors.New("of the dialer")})
		client := &fake{do: func(context.Context, string) error { return err }}
		_, got := takeOne(t.Context(), redislimit.NewOn(client, nil), "a")
		if errors.Is(got, context.DeadlineExceeded) || errors.Is(got, context.Canceled) {
			t.Errorf("%v looks like the end of a context", got)
		}
		if c, ok := errors.AsType[cause](got); !ok || !errors.Is(got, c) {
			t.Errorf("%v has lost its cause", got)
		}
	})
}

// listedError cannot be compared, as it is a slice.
type listedError []error

func (l listedError) Error() string { return fmt.Sprintf("%d errors", len(l)) }

func (l listedError) Unwrap() []error { return l }

func TestCauseOfATimeoutCanBeCompared(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: func(context.Context, string) error { return listedError{context.DeadlineExceeded} }}
		_, got := takeOne(t.Context(), redislimit.NewOn(client, nil), "a")
		if cause := errors.Unwrap(got); cause == nil || !errors.Is(got, cause) || errors.Is(got, context.DeadlineExceeded) {
			t.Errorf("%v does not match what it wraps, or the end of a context", got)
		}
	})
}
