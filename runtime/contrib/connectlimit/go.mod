module github.com/ratelimitgen/ratelimitgen/runtime/contrib/connectlimit

go 1.26.0

require (
	connectrpc.com/connect v1.21.1
	connectrpc.com/grpchealth v1.5.0
	github.com/ratelimitgen/ratelimitgen v0.0.0-00010101000000-000000000000
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1
	google.golang.org/protobuf v1.36.12
)

replace github.com/ratelimitgen/ratelimitgen => ../../..
