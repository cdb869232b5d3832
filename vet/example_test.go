package vet_test

import (
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/passes/printf"

	"github.com/ratelimitgen/ratelimitgen/vet"
)

// A checker of one's own has the analyzer beside others.
func Example() {
	multichecker.Main(vet.Analyzer, printf.Analyzer)
}
