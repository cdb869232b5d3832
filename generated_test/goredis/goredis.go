// Package goredis limits the commands interface of go-redis: hundreds of methods that nobody here wrote.
package goredis

import "github.com/redis/go-redis/v9"

// Cmdable limits the pipelines of each tenant. Single commands have no error result, and pass.
//
//ratelimit:key=pipelines count=2 time=1h by=tenant methods=Pipelined,TxPipelined
type Cmdable redis.Cmdable
