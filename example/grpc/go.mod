module github.com/ratelimitgen/ratelimitgen/example/grpc

go 1.26.0

tool github.com/ratelimitgen/ratelimitgen/cmd/ratelimitgen

require (
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
	github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit v0.0.0-00010101000000-000000000000
	google.golang.org/grpc v1.85.0
)

require (
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace (
	github.com/ratelimitgen/ratelimitgen => ../..
	github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit => ../../runtime/contrib/grpclimit
)
