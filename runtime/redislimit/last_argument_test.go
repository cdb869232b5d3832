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
	longer := l.longer(ctx, script)
	err := l.processor.Process(ctx, longer)
	script.SetVal(longer.Val())
	return err
}

func (l lastArgument) longer(ctx context.Context, script charging) charging {
	return newCharging(ctx, append(slices.Clip(script.Args()), l.argument()))
}

func (l lastArgument) Pipeline() redis.Pipeliner {
	return &longerPipeline{Pipeliner: l.processor.Pipeline(), by: l}
}

type longerPipeline struct {
	redis.Pipeliner
	by      lastArgument
	scripts []charging
	longer  []charging
}

func (p *longerPipeline) Process(ctx context.Context, cmd redis.Cmder) error {
	script := cmd.(charging)
	longer := p.by.longer(ctx, script)
	p.scripts, p.longer = append(p.scripts, script), append(p.longer, longer)
	return p.Pipeliner.Process(ctx, longer)
}

func (p *longerPipeline) Exec(ctx context.Context) ([]redis.Cmder, error) {
	cmds, err := p.Pipeliner.Exec(ctx)
	for i, script := range p.scripts {
		script.SetVal(p.longer[i].Val())
		script.SetErr(p.longer[i].Err())
	}
	return cmds, err
}
