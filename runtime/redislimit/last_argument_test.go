package redislimit

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// WithLastArgument has each script of the Store get one more argument, after those that it looks at. It is asked for anew
// each time.
func (s *Store) WithLastArgument(argument func() string) *Store {
	s.sender.client = lastArgument{s.sender.client, argument}
	return s
}

type lastArgument struct {
	processor
	argument func() string
}

func (l lastArgument) Process(ctx context.Context, cmd redis.Cmder) error {
	script, ok := cmd.(charging)
	if !ok {
		return l.processor.Process(ctx, cmd)
	}
	longer := charging{redis.NewCmd(ctx, append(slices.Clip(cmd.Args()), l.argument())...)}
	longer.SetFirstKeyPos(fixedArgs)
	err := l.processor.Process(ctx, longer)
	script.SetVal(longer.Val())
	return err
}
