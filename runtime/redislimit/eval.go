package redislimit

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// tryAgainPause is between two attempts at keys of which some have moved to another server and some are about to. They are
// given up after tryAgainMost, or when the call has used up its budget.
const tryAgainPause, tryAgainMost = 10 * time.Millisecond, time.Second

// mayTryAgain pauses after an error by which the server has not done something, as keys are on the move, and reports
// whether it may be asked again.
func (s *sender) mayTryAgain(ctx context.Context, err error, began time.Duration) bool {
	most := tryAgainMost
	if s.timeout > 0 {
		most = min(most, s.timeout-tryAgainPause)
	}
	return isTryAgain(err) && s.now()-began < most && pause(ctx, tryAgainPause)
}

// isTryAgain reports whether an error, or the cause of an Error, is that keys are on the move.
func isTryAgain(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		err = e.Err
	}
	return err != nil && redis.IsTryAgainError(err)
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

// eval runs a script. It sends it again only where the server says that it has not run it, as it does not know it.
func eval(ctx context.Context, client processor, sc *script, args []any) (any, error) {
	reply, err := evalOnce(ctx, client, args)
	if err != nil && isNoScript(err) {
		args[0], args[1] = "eval", sc.text // from now on the server knows it
		return evalOnce(ctx, client, args)
	}
	return reply, err
}

func evalOnce(ctx context.Context, client processor, args []any) (any, error) {
	cmd := newCharging(ctx, args)
	if err := client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Result()
}

// evaluation is a script that runs with others.
type evaluation struct {
	args  []any
	reply any
	err   error
}

// evalAll runs a script several times, in one exchange, and once more what its server did not know.
func evalAll(ctx context.Context, client processor, sc *script, all []*evaluation) {
	pipeline, cmds := client.Pipeline(), make([]charging, len(all))
	for i, e := range all {
		cmds[i] = newCharging(ctx, e.args)
		_ = pipeline.Process(ctx, cmds[i]) // which queues it
	}
	_, err := pipeline.Exec(ctx)
	var unknown []*evaluation
	for i, e := range all {
		if e.reply, e.err = cmds[i].Result(); e.reply == nil && e.err == nil {
			e.err = err // of a hook of the client
		}
		if isNoScript(e.err) {
			unknown = append(unknown, e)
		}
	}
	if len(unknown) == 0 {
		return
	}
	first := unknown[0]
	if first.reply, first.err = eval(ctx, client, sc, first.args); len(unknown) > 1 {
		evalAll(ctx, client, sc, unknown[1:])
	}
}

func newCharging(ctx context.Context, args []any) charging {
	cmd := charging{redis.NewCmd(ctx, args...)}
	cmd.SetFirstKeyPos(fixedArgs)
	return cmd
}

// charging is a command that go-redis sends once. By default it sends a command up to four times when a reply does not
// come, and each time may charge.
type charging struct{ *redis.Cmd }

// NoRetry is go-redis's to call.
func (charging) NoRetry() bool { return true }
