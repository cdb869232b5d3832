package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// Exit statuses.
const (
	exitOK       = 0
	exitFindings = 1
	exitUsage    = 2
)

// gcPercent has the process, which is soon over, collect garbage less often than one that stays.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
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
	c, err := parseArgs(args, dir)
	switch {
	case errors.Is(err, flag.ErrHelp):
		out.printf("%s", manual(c.name))
		return exitOK
	case err != nil:
		return out.misused(err.Error())
	}
	switch c.name {
	case "generate":
		return out.generate(c.cfg, c.args)
	case "check":
		return out.check(c.cfg, c.args, c.overrides)
	case "list":
		return out.list(c.cfg, c.args, c.format)
	case "vet":
		return out.vet(c.cfg, c.args)
	case "init":
		return out.init(c.cfg, c.args, c.dry)
	}
	out.printf("ratelimitgen %s\n", version())
	return exitOK
}

// version returns the version of the module that the command was built from, "(devel)" for a working copy.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
