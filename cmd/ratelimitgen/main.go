package main

import (
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/list"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

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
	cfg, format := parse.Config{Dir: dir}, "table"
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if name != "version" {
		flags.StringVar(&cfg.Tags, "tags", "", "")
	}
	if name == "generate" || name == "check" {
		flags.StringVar(&cfg.Into, "into", "", "")
		flags.StringVar(&cfg.Name, "package", "", "")
	}
	if name == "list" {
		flags.Func("format", "", func(value string) error {
			format = value
			if !slices.Contains(list.Formats, value) {
				return errors.New("want " + strings.Join(list.Formats, ", "))
			}
			return nil
		})
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		out.printf("%s", manual(name))
		return exitOK
	case err != nil:
		return out.misused(err.Error())
	}
	if wrong := checkInto(cfg, flags.Args()); wrong != "" {
		return out.misused(wrong)
	}

	switch name {
	case "generate":
		return out.generate(cfg, flags.Args())
	case "check":
		return out.check(cfg, flags.Args())
	case "list":
		return out.list(cfg, flags.Args(), format)
	case "vet":
		return out.vet(cfg, flags.Args())
	case "version":
		if flags.NArg() > 0 {
			return out.misused("version takes no arguments")
		}
		out.printf("ratelimitgen %s\n", version())
		return exitOK
	case "help":
		out.printf("%s", manual(flags.Arg(0)))
		return exitOK
	}
	return out.misused(fmt.Sprintf("unknown command %q: want generate, check, list, vet or version", name))
}

// checkInto returns what is wrong about -into and -package, or "".
func checkInto(cfg parse.Config, patterns []string) string {
	switch {
	case cfg.Name != "" && cfg.Into == "":
		return "-package without -into: want the directory of the package"
	case cfg.Name != "" && !token.IsIdentifier(cfg.Name), cfg.Name == "_":
		return fmt.Sprintf("-package %s: want an identifier", cfg.Name)
	case cfg.Into != "" && slices.ContainsFunc(patterns, func(pattern string) bool { return strings.HasSuffix(pattern, ".go") }):
		return "-into with Go files: want packages, whose import paths are known"
	}
	return ""
}

// command splits off the name of the command. A first argument that is a flag, or that names packages by a path, goes
// to generate; a flag that asks for help, to help.
func command(args []string) (name string, rest []string) {
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		return "help", args[1:]
	}
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
