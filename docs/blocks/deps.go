//go:build blocks

// Package blocks has no code but that of the pages in docs, whose imports these are.
package blocks

import (
	_ "github.com/cenkalti/backoff/v5"
	_ "github.com/go-redis/redis_rate/v10"
	_ "github.com/google/wire"
	_ "github.com/google/wire/cmd/wire"
	_ "github.com/ratelimitgen/ratelimitgen/cmd/ratelimitgen"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/sony/gobreaker/v2"
	_ "github.com/ulule/limiter/v3"
	_ "go.uber.org/fx"
	_ "go.uber.org/fx/fxtest"
	_ "golang.org/x/time/rate"
)
