// Ratelimitgen writes the decorators that keep the limits of //ratelimit: directives.
//
// Usage:
//
//	ratelimitgen [generate] [-into dir [-package name]] [-tags list] [packages]
//	ratelimitgen check [-into dir [-package name]] [-overrides file] [-tags list] [packages]
//	ratelimitgen list [-format table|json|yaml|markdown] [-tags list] [packages]
//	ratelimitgen vet [-tags list] [packages]
//	ratelimitgen init [-n] [-tags list] [package]
//	ratelimitgen version
//	ratelimitgen [command] -h
//
// A directive stands above a method of an interface, or above an interface for all its methods:
//
//	//go:generate go tool ratelimitgen
//
//	type Users interface {
//		//ratelimit:count=5 time=1m ip
//		Get(ctx context.Context, id string) (*User, error)
//	}
//
// Here each client IP may call Get five times a minute through the decorator, which NewRateLimitedUsers makes. What
// directives can say is described in the package github.com/ratelimitgen/ratelimitgen/annotations.
//
// The context of a call, which has its caller and its deadline, is the first parameter of type context.Context, or else the
// first that implements it, or else what the first one with a method Context returns.
//
// Packages are patterns as the go command has them, such as ./..., or Go files; the default is the package in the current
// directory. Only packages of the main module count, or of the modules of a workspace, and each pattern must match some. They
// must parse, but need not type-check: only the signatures of annotated interfaces and the expressions of directives must, so
// that code may use decorators that are not there yet.
//
// # Generate
//
// Generate, the default, writes users_ratelimit.go for users.go, and users_ratelimit_test.go for users_test.go, with the
// build constraints of the source. It is meant to be run by go generate.
//
// It writes a file only if its bytes change, and removes one whose source is gone or has lost its directives. It never
// touches a file that it did not generate, nor any file of a package with a mistake, nor one of another module. A symbolic
// link stays one: the file that it points to is written. Comments that others have put above the header of a generated file,
// such as a license, stay. What is written is type-checked before, as far as the package allows; a decorator that would not
// compile is reported and not written.
//
// With -into, the decorators go into another package, which need not be there yet:
//
//	//go:generate go tool ratelimitgen -into ../limited
//
// The names there are the same, and so are the keys, which are those of the package of the interface: wherever its decorators
// are, they share their buckets. What that package cannot name, such as an unexported type in a signature, is a mistake, and
// so is a name that is taken there: several packages may go into one if their interfaces and files have different names. The
// package must not be one that the interfaces depend on. Each file there says of which package it is, and is left alone by
// whoever generates without -into.
//
// # Check
//
// Check writes nothing. It prints a diff for each file that generate would write or remove. Run it in CI, for all packages
// at once: ratelimitgen check ./... also finds a key that two packages use for different limits. It looks for decorators
// where they are: those of a package that has some in another one and none of its own are expected there, so that what
// generate wrote with -into is checked without.
//
// With -overrides it also reads a file of overrides, and prints what is wrong with it beside the limits of the packages: ids that
// none of them has, fields and values that are none, and values that the limit cannot have. Name all packages that the file is
// for. A program that watches a file with a mistake keeps to what it took before.
//
// # List
//
// List prints every limit of the packages, sorted by id, with the place of its directive. An id is
// package.Interface.Method#name, where the name is that of the limit, by default its period. Packages with mistakes
// are left out, as generate leaves them, and the mistakes are printed.
//
// The formats are:
//
//	table     for people, the default: a line for each limit, with - where there is nothing to say
//	markdown  the same, to paste into documents
//	json      an array of objects, for programs
//	yaml      a file of overrides to start with: count, time, burst, mode and fail of each limit by its id
//
// Limits with the same key, name and algorithm share their buckets: the table has the number of the others, markdown and
// json have their ids. An object in json has these fields:
//
//	id package method name    strings; package is the import path
//	key                       string, with holes such as {@ip} and {req.UserID}
//	per                       array: what tells its buckets apart, such as "ip" and "{req.UserID}"
//	shared                    array: ids of the other limits that charge the same buckets
//	algorithm count time      string, number, and string as written: "1m30s"
//	file line                 string and number: of the directive, seen from the current directory
//
// and these if the directive sets them:
//
//	burst cost prefetch       numbers
//	costExpression            string: the cost if that is an expression
//	skip refund               strings: expressions
//	refill wait fallback      strings
//	fail mode onempty         strings
//	status message            number and string
//
// # Vet
//
// Vet writes nothing, and prints the mistakes that generate would print. The command is also a tool of go vet, which shows
// them beside others, caches what it has found, and with -fix mends what leaves no doubt:
//
//	go vet -vettool=$(go tool -n ratelimitgen) ./...
//
// For other drivers and for editors there is an analyzer in the package github.com/ratelimitgen/ratelimitgen/vet. These see
// one package at a time: a key that packages share without being equal is found by ratelimitgen vet, check and generate
// only.
//
// # Init
//
// Init adds to a package, by default the one in the current directory, what it lacks to begin with: the tool to go.mod, as go
// get -tool does, in the version that the module requires already or else in that of the command; a go:generate line; and above a
// method that can refuse a call an example of a directive, if the package has none. So it is run before the tool is there:
//
//	go run github.com/ratelimitgen/ratelimitgen/cmd/ratelimitgen@latest init ./users
//
// It prints what it has added, and changes nothing that is there. A package with a mistake in a directive, or with a comment that
// was meant as one, is told so and left alone. With -n it changes nothing at all, and prints a diff, without
// that of go.sum.
//
// # Flags
//
// The flags are:
//
//	-tags list
//		comma-separated build tags, as for the go command
//	-into dir
//		of generate and check: the package for the decorators, by default that of their interfaces
//	-package name
//		what the package of -into is called, by default as it is already, or else as its directory is
//	-overrides file
//		of check: a file of overrides, in YAML or JSON
//	-n
//		of init: only print what would change
//	-format table|json|yaml|markdown
//		of list
//	-h
//		print this manual, or what is about the command
//
// # Mistakes and exit status
//
// Mistakes are printed to standard error as file:line:col: message, all of them in one run, sorted. Paths are relative to the
// current directory if they are below it, and absolute otherwise. The exit status is 0 if all is well, 1 if there are mistakes
// or check has found a difference, and 2 if the command line is wrong.
package main
