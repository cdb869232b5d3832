module github.com/ratelimitgen/ratelimitgen/runtime/dashboard

go 1.26.0

require (
	github.com/go-kratos/aegis v0.2.0
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
)

require github.com/twmb/murmur3 v1.1.6 // indirect

replace github.com/ratelimitgen/ratelimitgen => ../..
