// Bench measures this module's stores and decorators beside other limiters, and beside the least that they all must do.
//
// Usage, in its folder:
//
//	go run . [-rows list] [-rounds n] [-time d] [-full] [-write file]
//
// Each row of the report is a piece of work that all entries of the row do in turns, round after round. A figure is the
// median of an entry's rounds, and a ratio is the median of the ratios round by round, so that what else the machine has to
// do touches all of them. Every round checks that its work was done: each call was decided, those that fit the limit were
// allowed and no others, the rounds come past each key, and Redis holds as many keys as there should be.
//
// It starts Redis servers of its own on loopback, and needs the redis-server of redistest.Client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"testing"
	"time"
)

func main() {
	o := options{}
	rows := flag.String("rows", "", "the rows to measure, e.g. redis-128,memory for one of this id and all whose ids begin with memory-; empty: all")
	flag.IntVar(&o.rounds, "rounds", 120, "how often each entry of a row is measured")
	flag.DurationVar(&o.time, "time", 10*time.Millisecond, "how long each time; with many keys, and over Redis, rounds are longer and fewer")
	flag.BoolVar(&o.full, "full", false, "also measure what takes minutes")
	flag.StringVar(&o.write, "write", "", "the file to write the report to, of which the goals alone are printed; only for all rows")
	flag.Parse()
	if *rows != "" {
		o.rows = strings.Split(*rows, ",")
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	rows   []string
	rounds int
	time   time.Duration
	full   bool
	write  string
}

func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if o.write != "" && o.rows != nil {
		return errors.New("-write and -rows: want one of them, as the file is of all rows")
	}
	report, err := newReport(ctx)
	if err != nil {
		return err
	}
	for _, r := range allRows(math.MaxInt) {
		if !o.wants(r) {
			continue
		}
		fmt.Fprintln(os.Stderr, r.id)
		if err := within(func(t testing.TB) { report.add(t, r, r.measure(ctx, t, o.rounds, o.time)) }); err != nil {
			return err
		}
	}
	if len(report.sections) == 0 {
		return fmt.Errorf("-rows %s: there are no such rows", strings.Join(o.rows, ","))
	}
	if o.write != "" {
		fmt.Print(report.goalTable())
		return os.WriteFile(o.write, []byte(report.page(o)), 0o644)
	}
	fmt.Print(report.text())
	return nil
}

// allRows returns the rows of the report. None has more keys than most, which is for tests of the rows.
func allRows(most int) []row {
	return slices.Concat(memoryRows(most), decoratorRows(most), redisRows(most), sizeRows(most), growthRows(most))
}

// wants reports whether a row is to be measured.
func (o *options) wants(r row) bool {
	if slices.Contains(o.rows, r.id) {
		return true
	}
	inGroup := func(id string) bool { return strings.HasPrefix(r.id, id+"-") }
	return (o.full || !r.long) && (o.rows == nil || slices.ContainsFunc(o.rows, inGroup))
}
