module github.com/ratelimitgen/ratelimitgen/runtime/dashboard/internal/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
	github.com/ratelimitgen/ratelimitgen/runtime/dashboard v0.0.0-00010101000000-000000000000
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/go-kratos/aegis v0.2.0 // indirect
	github.com/twmb/murmur3 v1.1.6 // indirect
)

replace (
	github.com/ratelimitgen/ratelimitgen => ../../../..
	github.com/ratelimitgen/ratelimitgen/runtime/dashboard => ../..
)
