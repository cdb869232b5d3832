module github.com/ratelimitgen/ratelimitgen/generated_test/echo5

go 1.26.0

require (
	github.com/labstack/echo/v5 v5.4.4
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
)

replace github.com/ratelimitgen/ratelimitgen => ../..
