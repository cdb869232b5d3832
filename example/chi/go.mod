module github.com/ratelimitgen/ratelimitgen/example/chi

go 1.26.0

require (
	github.com/go-chi/chi/v5 v5.5.0
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
)

require (
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

tool github.com/ratelimitgen/ratelimitgen/cmd/ratelimitgen

replace github.com/ratelimitgen/ratelimitgen => ../..
