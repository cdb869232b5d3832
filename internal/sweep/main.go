// Sweep decorates every exported interface of the standard library and of large modules, and compiles the result.
//
// Usage, in the root of the repository:
//
//	go run ./internal/sweep [-keep] [modules]
//
// The modules are those that testdata/modules/go.mod requires, with whatever they require. For each exported interface of a
// package that others may import, sweep declares two that embed it: one with a plain limit for each method that can be
// refused, and one with slots, refunds, fallbacks, and keys, costs and conditions made of parameters. Where no method can
// be refused, the plain one gets another method that can, so that the others are at least forwarded.
// ratelimitgen then has to generate decorators that the compiler and vet accept, and to find nothing to change when it
// looks at them again.
//
// Sweep writes what came out to docs/sweep.md, unless arguments choose some of the modules; "std" is the standard library.
// The exit status is 1 if there is an interface without a decorator and without a reason for that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	keep := flag.Bool("keep", false, "keep the folder with the interfaces and their decorators, and print its name")
	flag.Parse()
	if err := run(flag.Args(), *keep); err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(1)
	}
}

func run(chosen []string, keep bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w, err := newWorkspace(ctx)
	if err != nil {
		return err
	}
	if keep {
		fmt.Println(w.dir)
	} else {
		defer os.RemoveAll(w.dir)
	}
	modules, err := w.modules(ctx, chosen)
	if err != nil {
		return err
	}
	if err := sweep(ctx, w, modules); err != nil {
		return err
	}
	r := newReport(modules)
	if len(chosen) == 0 {
		if err := os.WriteFile(filepath.Join(w.root, "docs", "sweep.md"), r.markdown(), 0o666); err != nil {
			return err
		}
	}
	fmt.Print(r.summary(w.times))
	if len(r.failures) > 0 {
		return errors.New("there are failures")
	}
	return nil
}

// sweep finds the interfaces of the modules, decorates them, and compiles the decorators.
func sweep(ctx context.Context, w *workspace, modules []*module) error {
	if err := w.findInterfaces(ctx, modules); err != nil {
		return err
	}
	if err := w.writeInterfaces(modules); err != nil {
		return err
	}
	return w.decorate(ctx)
}
