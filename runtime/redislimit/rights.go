package redislimit

import (
	"context"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// right is a command that the Store or its scripts run, with arguments by which it does next to nothing to a KEY.
type right struct{ command, args string }

// rights are the commands in an order in which none writes but the one that makes the key a string, for a second, and the
// last, which removes it. The script is no Lua, the digest none of any.
var rights = []right{
	{"eval", "( 1 KEY"},
	{"evalsha", "0000000000000000000000000000000000000000 1 KEY"},
	{"time", ""},
	{"set", "KEY 0 px 1000"},
	{"get", "KEY"},
	{"pttl", "KEY"},
	{"pexpire", "KEY 1000"},
	{"lindex", "KEY 0"},
	{"llen", "KEY"},
	{"lset", "KEY 0 0"},
	{"ltrim", "KEY 0 0"},
	{"rpush", "KEY 0"},
	{"zadd", "KEY score member"},
	{"zcount", "KEY 0 0"},
	{"zrem", "KEY member"},
	{"zremrangebyscore", "KEY 0 0"},
	{"zrevrange", "KEY 0 0"},
	{"zscore", "KEY member"},
	{"del", "KEY"},
}

// What clients of several servers do by themselves: that of a Cluster looks up where the keys of commands are, at every call
// until it is told, and that of a Ring gives up a server that does not answer pings.
var (
	clusterRights = append([]right{{"command", ""}}, rights...)
	ringRights    = append([]right{{"ping", ""}}, rights...)
)

// unmissed are commands without which calls may succeed for now, as long as the server knows the scripts.
var unmissed = []string{"eval", "command", "ping"}

// forbidden finds out why a server forbids something. It tries one command after the other, outside of scripts, where all
// servers tell whether it is the command or the key that is forbidden.
func (st *stage) forbidden(ctx context.Context, cause error) error {
	var lacks []string
	keys := true
	for _, r := range st.rights {
		if r.command == "time" && st.store.now != nil {
			continue
		}
		if r.command == "rpush" && slices.Contains(lacks, "+set") { // there would be a list, for ever
			lacks = append(lacks, "+rpush")
			continue
		}
		switch err := st.try(ctx, r); {
		case redis.IsAuthError(err):
			return err
		case err == nil || kindOf(err) != KindForbidden:
		case strings.Contains(err.Error(), "run the '"+r.command+"'"):
			lacks = append(lacks, "+"+r.command)
		case strings.Contains(err.Error(), "run the '"): // another one: the client's, as it connects
			return err
		default:
			keys = false
		}
	}
	if !keys {
		lacks = append(lacks, "~"+pattern.Replace(st.store.prefix)+"*")
	}
	if len(lacks) == 0 {
		return cause
	}
	return &lackingError{lacks, cause}
}

// try returns what the server makes of a right.
func (st *stage) try(ctx context.Context, r right) error {
	args := []any{r.command}
	for arg := range strings.FieldsSeq(r.args) {
		if arg == "KEY" {
			arg = st.store.key(&ratelimit.Charge{Key: st.identity, Name: "check"})
		}
		args = append(args, arg)
	}
	cmd := redis.NewCmd(ctx, args...)
	_, err := within(ctx, func() (any, error) { return nil, st.client.Process(ctx, cmd) })
	return err
}

// pattern makes patterns of keys of texts.
var pattern = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// lackingError is what a user may not do.
type lackingError struct {
	lacks []string // as rules of ACL SETUSER
	err   error    // what the server said
}

func (e *lackingError) Error() string { return "the user lacks " + strings.Join(e.lacks, " ") }

func (e *lackingError) Unwrap() error { return e.err }
