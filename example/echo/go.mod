module github.com/ratelimitgen/ratelimitgen/example/echo

go 1.26.0

require (
	github.com/labstack/echo/v4 v4.16.0
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
	github.com/ratelimitgen/ratelimitgen/runtime/contrib/echolimit v0.0.0-00010101000000-000000000000
)

require (
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/labstack/gommon v0.5.0 // indirect
	github.com/mattn/go-colorable v0.1.15 // indirect
	github.com/mattn/go-isatty v0.0.22 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasttemplate v1.2.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

tool github.com/ratelimitgen/ratelimitgen/cmd/ratelimitgen

replace (
	github.com/ratelimitgen/ratelimitgen => ../..
	github.com/ratelimitgen/ratelimitgen/runtime/contrib/echolimit => ../../runtime/contrib/echolimit
)
