package base // want package:`directives on \[example.com/inherit/base.Get example.com/inherit/base.Put example.com/inherit/base.Close example.com/inherit/base.Secret example.com/inherit/base.Get example.com/inherit/base.Broken example.com/inherit/base.Get\]`

import "context"

func ID() string { return "" }

func secret() string { return "" }

type Store interface {
	//ratelimit:count=5 key=get:{ID()} ip=true
	Get(ctx context.Context) error
	//ratelimit:count=5 key=put
	Put() error
	//ratelimit:skip
	Close()
}

// Secret has what only this package can write.
type Secret interface {
	//ratelimit:count=5 key={secret()}
	Secret() error
}

type Other interface {
	//ratelimit:count=6
	Get(ctx context.Context) error
}

type Mistaken interface {
	// want +1 `count=0: want 1 to 1000000000`
	//ratelimit:count=0
	Broken()
}

type List[T any] interface {
	// want +1 `key: {item} is of the type parameter T any: want a string`
	//ratelimit:count=5 key=list:{item}
	Get(item T) error
}

// Hidden has the lines of an interface that no other package can name.
type Hidden interface{ hidden }

type hidden interface {
	Store
}
