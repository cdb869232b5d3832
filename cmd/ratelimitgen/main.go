// Ratelimitgen writes the decorators that keep the limits of //ratelimit: directives.
//
// Usage:
//
//	ratelimitgen [generate] [flags] [packages]
//	ratelimitgen check [flags] [packages]
//	ratelimitgen version
//
// Packages are patterns as the go command has them; the default is the package in the current directory. It is meant
// to be run by go generate:
//
//	//go:generate go tool ratelimitgen
//
// Generate writes users_ratelimit.go for users.go, and users_ratelimit_test.go for users_test.go. It writes a file only
// if its bytes change, and removes one whose source is gone or has lost its directives. It never touches a file that it
// did not generate, nor any file of a package with a mistake, nor one of another module. A package must parse, but need
// not type-check: only the signatures of its annotated interfaces must.
//
// Check writes nothing. It prints a diff for each file that generate would write or remove.
//
// The flags are:
//
//	-tags list
//		comma-separated build tags, as for the go command
//
// Mistakes are printed to standard error as file:line:col: message, all of them in one run. The exit status is 0 if all
// is well, 1 if there are mistakes or check has found a difference, and 2 if the command line is wrong.
//
// The directives are described in the package github.com/ratelimitgen/ratelimitgen/annotations.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

const usage = `usage: ratelimitgen [generate] [-tags list] [packages]   write the decorators
       ratelimitgen check [-tags list] [packages]        print what generate would change, and exit 1
       ratelimitgen version

The default package is the one in the current directory.
`

// Exit statuses.
const (
	exitOK       = 0
	exitFindings = 1
	exitUsage    = 2
)

func main() {
	if isVetTool(os.Args[1:]) {
		runVetTool()
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ratelimitgen:", err)
		os.Exit(exitFindings)
	}
	os.Exit(run(os.Args[1:], dir, os.Stdout, os.Stderr))
}

// run runs the command in dir and returns its exit status.
func run(args []string, dir string, stdout, stderr io.Writer) int {
	out := &output{dir: dir, stdout: stdout, stderr: stderr}
	name, args := command(args)
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	tags := flags.String("tags", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		out.printf("%s", usage)
		return exitOK
	case err != nil:
		return out.misused(err.Error())
	}

	cfg := parse.Config{Dir: dir, Tags: *tags}
	switch name {
	case "generate":
		return out.generate(cfg, flags.Args())
	case "check":
		return out.check(cfg, flags.Args())
	case "vet":
		return out.vet(cfg, flags.Args())
	case "version":
		if flags.NArg() > 0 {
			return out.misused("version takes no arguments")
		}
		out.printf("ratelimitgen %s\n", version())
		return exitOK
	case "help":
		out.printf("%s", usage)
		return exitOK
	}
	return out.misused(fmt.Sprintf("unknown command %q: want generate, check or version", name))
}

// command splits off the name of the command. A first argument that is a flag, or that names packages by a path, goes
// to generate.
func command(args []string) (name string, rest []string) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], `./\`) {
		return "generate", args
	}
	return args[0], args[1:]
}

// version returns the version of the module that the command was built from, "(devel)" for a working copy.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
