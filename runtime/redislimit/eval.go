package redislimit

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// tryAgainPause is between two attempts at keys of which some have moved to another server and some are about to. They are
// given up after tryAgainMost, or when the call has used up its budget.
const tryAgainPause, tryAgainMost = 10 * time.Millisecond, time.Second

// eval runs a script. It sends it again only where the server says that it has not run it.
func (s *sender) eval(ctx context.Context, sc *script, args []any) (any, error) {
	most := tryAgainMost
	if s.timeout > 0 {
		most = min(most, s.timeout-tryAgainPause)
	}
	for began := time.Now(); ; {
		reply, err := s.evalOnce(ctx, args)
		switch {
		case err == nil:
			return reply, nil
		case isNoScript(err) && args[0] == "evalsha":
			args[0], args[1] = "eval", sc.text // from now on the server knows it
		case redis.IsTryAgainError(err) && time.Since(began) < most:
			if !pause(ctx, tryAgainPause) {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

// pause reports whether it could sleep for so long and the context still has time left.
func pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *sender) evalOnce(ctx context.Context, args []any) (any, error) {
	cmd := charging{redis.NewCmd(ctx, args...)}
	cmd.SetFirstKeyPos(fixedArgs)
	if err := s.client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Result()
}

// charging is a command that go-redis sends once. By default it sends a command up to four times when a reply does not
// come, and each time may charge.
type charging struct{ *redis.Cmd }

// NoRetry is go-redis's to call.
func (charging) NoRetry() bool { return true }
