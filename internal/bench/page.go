package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed page.md
var pageText string

// page returns the page for the documentation.
func (r *report) page(o options) string {
	command := fmt.Sprintf("go run . -rounds %d -time %v", o.rounds, o.time)
	if o.full {
		command += " -full"
	}
	return strings.NewReplacer(
		"{goals}\n", r.goalTable(),
		"{rows}\n\n", strings.Join(r.sections, "\n")+"\n",
		"{machine}", r.machine.String(),
		"{command}", command,
		"{rounds}", fmt.Sprint(o.rounds),
		"{time}", o.time.String(),
	).Replace(pageText)
}
