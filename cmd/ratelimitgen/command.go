package main

import (
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/list"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// command is a command line.
type command struct {
	name      string
	cfg       parse.Config
	format    string
	dry       bool     // of init: only shows what it would do
	overrides string   // the file to check; empty if there is none
	args      []string // that are neither the command nor flags
}

// commands are those that there are, besides help.
var commands = []string{"generate", "check", "list", "vet", "init", "version"}

// parseArgs reads a command line. The error is [flag.ErrHelp] if it asks for help, about the whole if the command has no name.
func parseArgs(args []string, dir string) (command, error) {
	name, args := splitName(args)
	c := command{name: name, cfg: parse.Config{Dir: dir}, format: "table"}
	if name == "help" {
		return parseHelp(args)
	}
	if !slices.Contains(commands, name) {
		return c, unknown(name)
	}
	flags := c.flags()
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	c.args = flags.Args()
	return c, c.check()
}

// splitName splits off the name of the command. A first argument that is a flag, or that names packages by a path, goes
// to generate; a flag that asks for help, to help.
func splitName(args []string) (name string, rest []string) {
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		return "help", args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], `./\`) {
		return "generate", args
	}
	return args[0], args[1:]
}

// parseHelp reads what is behind help: nothing, or the name of a command.
func parseHelp(args []string) (command, error) {
	switch {
	case len(args) == 0:
		return command{}, flag.ErrHelp
	case len(args) > 1:
		return command{}, errors.New("help takes one argument at most, the name of a command")
	case !slices.Contains(commands, args[0]):
		return command{}, unknown(args[0])
	}
	return command{name: args[0]}, flag.ErrHelp
}

func unknown(name string) error {
	last := len(commands) - 1
	return fmt.Errorf("unknown command %q: want %s or %s", name, strings.Join(commands[:last], ", "), commands[last])
}

// flags returns the flags that the command takes.
func (c *command) flags() *flag.FlagSet {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if c.name != "version" {
		flags.StringVar(&c.cfg.Tags, "tags", "", "")
	}
	if c.name == "generate" || c.name == "check" {
		flags.Func("into", "", func(dir string) error {
			if c.cfg.Into = dir; dir == "" {
				return errors.New("want a directory")
			}
			return nil
		})
		flags.Func("package", "", func(name string) error {
			if c.cfg.Name = name; !token.IsIdentifier(name) || name == "_" {
				return errors.New("want an identifier")
			}
			return nil
		})
	}
	if c.name == "check" {
		flags.Func("overrides", "", func(file string) error {
			if c.overrides = file; file == "" {
				return errors.New("want a file")
			}
			return nil
		})
	}
	if c.name == "init" {
		flags.BoolVar(&c.dry, "n", false, "")
	}
	if c.name == "list" {
		flags.Func("format", "", func(format string) error {
			if c.format = format; !slices.Contains(list.Formats, format) {
				return errors.New("want " + strings.Join(list.Formats, ", "))
			}
			return nil
		})
	}
	return flags
}

// check returns what is wrong about flags and arguments together.
func (c *command) check() error {
	for _, arg := range c.args {
		switch {
		case c.name == "version":
			return errors.New("version takes no arguments")
		case strings.HasPrefix(arg, "-"):
			return fmt.Errorf("%s behind the packages: want flags before them", arg)
		case c.cfg.Into != "" && strings.HasSuffix(arg, ".go"):
			return errors.New("-into with Go files: want packages, whose import paths are known")
		}
	}
	if c.cfg.Name != "" && c.cfg.Into == "" {
		return errors.New("-package without -into: want the directory of the package")
	}
	return nil
}
