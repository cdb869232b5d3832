package main

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
	"github.com/ratelimitgen/ratelimitgen/vet"
)

// vet prints what keeps generate from writing.
func (o *output) vet(cfg parse.Config, patterns []string) int {
	s, err := makeSurvey(cfg, patterns)
	if err == nil {
		_, err = s.complete()
	}
	return o.report(err)
}

// isVetTool reports whether the arguments are those of the go command, of which the command is the vet tool: it asks for
// the version and for the flags, and then gives each package's description in a file, behind flags of its own.
func isVetTool(args []string) bool {
	if len(args) == 0 {
		return false
	}
	before, last := args[:len(args)-1], args[len(args)-1]
	if len(before) == 0 && (last == "-V=full" || last == "-flags") {
		return true
	}
	isOther := func(arg string) bool { return !strings.HasPrefix(arg, "-") }
	return filepath.IsAbs(last) && filepath.Base(last) == "vet.cfg" && !slices.ContainsFunc(before, isOther)
}

// runVetTool does what the go command asks of its vet tool, and exits.
func runVetTool() { unitchecker.Main(vet.Analyzer) }
