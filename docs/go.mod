// The Go code of the pages here is compiled and run by docs/blocks: a module of its own, for what they show beside ours.
module github.com/ratelimitgen/ratelimitgen/docs

go 1.26.0

replace github.com/ratelimitgen/ratelimitgen => ..

require (
	github.com/cenkalti/backoff/v5 v5.0.3
	github.com/go-redis/redis_rate/v10 v10.0.1
	github.com/google/wire v0.7.0
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
	github.com/redis/go-redis/v9 v9.23.0
	github.com/sony/gobreaker/v2 v2.4.0
	github.com/ulule/limiter/v3 v3.11.2
	go.uber.org/fx v1.24.0
	golang.org/x/time v0.16.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/google/subcommands v1.2.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.uber.org/dig v1.19.0 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	go.uber.org/zap v1.26.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
