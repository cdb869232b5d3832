package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/list"
	"github.com/ratelimitgen/ratelimitgen/internal/overrides"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// output is where the command prints: results to stdout, and what is wrong to stderr. Paths below dir are printed as
// relative ones.
type output struct {
	dir            string
	stdout, stderr io.Writer
}

// printf prints to stdout. That it may fail is not checked here nor in errorf: there is nowhere to report it.
func (o *output) printf(format string, args ...any) { _, _ = fmt.Fprintf(o.stdout, format, args...) }

func (o *output) errorf(format string, args ...any) { _, _ = fmt.Fprintf(o.stderr, format, args...) }

// misused reports a wrong command line.
func (o *output) misused(message string) int {
	o.errorf("ratelimitgen: %s\nRun 'ratelimitgen -h' for usage.\n", message)
	return exitUsage
}

// generate makes the planned changes.
func (o *output) generate(cfg parse.Config, patterns []string) int {
	changes, err := makePlan(cfg, patterns)
	status := o.report(err)
	for _, c := range changes {
		if err := c.apply(); err != nil {
			o.errorf("ratelimitgen: %v\n", err)
			status = exitFindings
		}
	}
	return status
}

// check prints the planned changes, and the mistakes in a file of overrides if there is one.
func (o *output) check(cfg parse.Config, patterns []string, file string) int {
	s, err := makeSurvey(cfg, patterns)
	if err != nil {
		return o.report(err)
	}
	changes, err := s.complete()
	status := o.report(err)
	for _, c := range changes {
		path := o.relative(c.path)
		o.errorf("%s: %s\n", path, c.what())
		o.printf("%s", c.diff(path))
		status = exitFindings
	}
	if file != "" {
		status = max(status, o.checkOverrides(file, s))
	}
	return status
}

// checkOverrides prints the mistakes in a file of overrides. Packages that have mistakes may have limits that nobody knows of.
func (o *output) checkOverrides(file string, s survey) int {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.dir, file)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return o.report(err)
	}
	if mistakes := overrides.Check(file, text, list.Of(s.sound(), o.dir), s.err() == nil); len(mistakes) > 0 {
		return o.report(mistakes)
	}
	return exitOK
}

// list prints the limits of the packages that have no mistakes.
func (o *output) list(cfg parse.Config, patterns []string, format string) int {
	s, err := makeSurvey(cfg, patterns)
	if err != nil {
		return o.report(err)
	}
	status := o.report(s.err())
	if err := list.Write(o.stdout, format, list.Of(s.sound(), o.dir)); err != nil {
		o.errorf("ratelimitgen: %v\n", err)
		status = exitFindings
	}
	return status
}

// report prints what kept packages from being planned, and returns the exit status for it.
func (o *output) report(err error) int {
	var mistakes parse.Diagnostics
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &mistakes):
		for _, d := range mistakes {
			o.errorf("%s\n", o.shorten(d.String()))
		}
	default:
		o.errorf("ratelimitgen: %s\n", o.shorten(err.Error()))
	}
	return exitFindings
}

// shorten makes the paths in a line relative ones, as the go command does with those in the output of its tools: where there is
// a space or a parenthesis before them, or nothing.
func (o *output) shorten(line string) string {
	if filepath.Dir(o.dir) == o.dir { // with the root, all that begins with a slash would look like a path, directives too
		return line
	}
	below := o.dir + string(filepath.Separator)
	return strings.NewReplacer(" "+below, " ", "("+below, "(").Replace(" " + line)[1:]
}

// relative returns path as it is seen from the working directory if it is below that.
func (o *output) relative(path string) string {
	if rel, err := filepath.Rel(o.dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
