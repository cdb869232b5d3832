package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

const (
	modulePath = "github.com/ratelimitgen/ratelimitgen"
	toolPath   = modulePath + "/cmd/ratelimitgen"
)

// init adds what a package lacks to begin with: the tool to its go.mod, a go:generate line and an example of a directive. With
// dry it only shows what that is.
func (o *output) init(cfg parse.Config, patterns []string, dry bool) int {
	s, err := makeStart(cfg, patterns)
	if err != nil {
		return o.report(err)
	}
	if len(s.changes) == 0 {
		o.printf("Nothing to add: there are the tool, a go:generate line and a directive.\n")
		return exitOK
	}
	for _, c := range s.changes {
		path := o.relative(c.path)
		switch {
		case !dry:
			err = c.apply()
		case filepath.Base(path) != "go.sum": // what is in there follows from go.mod
			o.printf("%s", diff.Diff(path, c.old, path+" (after init)", c.new))
		}
		if err != nil {
			return o.report(err)
		}
	}
	if dry {
		return exitOK
	}
	for _, line := range s.done {
		o.printf("%s\n", o.shorten(line))
	}
	if s.vendor != "" {
		o.printf("Next: run %s, set the limit that you want, run go generate, and %[1]s again for what is generated.\n", s.vendor)
	} else {
		o.printf("Next: set the limit that you want, and run go generate.\n")
	}
	return exitOK
}

// start is what init adds.
type start struct {
	changes []change // go.mod's first
	done    []string // a line for each thing that they add
	vendor  string   // the command that has to vendor it, if the module vendors
}

func makeStart(cfg parse.Config, patterns []string) (start, error) {
	env, err := goCommand(cfg.Dir, "env", "GOMOD", "GOWORK")
	if err != nil {
		return start{}, err
	}
	mod, work, _ := strings.Cut(string(env), "\n")
	mod, work = strings.TrimSpace(mod), strings.TrimSpace(work)
	if mod == "" || mod == os.DevNull {
		return start{}, errors.New("no go.mod in this directory or above it: run go mod init first")
	}
	pkg, err := onePackage(cfg, patterns)
	if err != nil {
		return start{}, err
	}
	source, done, err := startPackage(pkg)
	if err != nil {
		return start{}, err
	}
	mod = pkg.Module.GoMod // of a workspace, it may be another one than that of the directory
	tool, lines, err := addTool(mod)
	if err != nil {
		return start{}, err
	}
	s := start{changes: tool, done: slices.Concat(lines, done), vendor: vendorCommand(mod, work)}
	if source != nil {
		s.changes = append(s.changes, *source)
	}
	return s, nil
}

// vendorCommand returns the command that vendors for the module of a go.mod, in the workspace of a go.work if there is one,
// or nothing if nobody has run it.
func vendorCommand(mod, work string) string {
	command := "go mod vendor"
	if work != "" && work != "off" {
		mod, command = work, "go work vendor"
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(mod), "vendor", "modules.txt")); err != nil {
		return ""
	}
	return command
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir   string
	GoFiles, CgoFiles []string
	Module            *struct {
		GoMod string
		Main  bool
	}
	Error *struct{ Err string }
}

// onePackage returns the package that is meant, by default that of the directory.
func onePackage(cfg parse.Config, patterns []string) (listed, error) {
	args := []string{"list", "-e", "-find", "-json=ImportPath,Dir,GoFiles,CgoFiles,Module,Error", "-tags=" + cfg.Tags, "--"}
	out, err := goCommand(cfg.Dir, append(args, patterns...)...)
	if err != nil {
		return listed{}, err
	}
	var pkgs []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return listed{}, fmt.Errorf("go list: %w", err)
		}
		pkgs = append(pkgs, pkg)
	}
	name := strings.Join(patterns, " ")
	switch {
	case len(pkgs) != 1:
		return listed{}, fmt.Errorf("%s: %d packages: want one, to which an example is added", name, len(pkgs))
	case len(pkgs[0].GoFiles)+len(pkgs[0].CgoFiles) == 0 && pkgs[0].Error != nil:
		return listed{}, errors.New(pkgs[0].Error.Err)
	case pkgs[0].Module == nil || !pkgs[0].Module.Main:
		return listed{}, fmt.Errorf("%s: a package of another module: want one of this", pkgs[0].ImportPath)
	}
	return pkgs[0], nil
}

// addTool returns the changes of a go.mod, and its go.sum, that make the command a tool of the module, as go get -tool does,
// and a line for each thing that they add. There are none if it is one.
func addTool(path string) (changes []change, done []string, err error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := modfile.Parse(path, old, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, tool := range file.Tool {
		if tool.Path == toolPath {
			return nil, nil, nil
		}
	}
	temp, err := os.MkdirTemp("", "ratelimitgen")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	sum := strings.TrimSuffix(path, ".mod") + ".sum"
	sums, err := os.ReadFile(sum)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	copied := filepath.Join(temp, "go.mod")
	if err := errors.Join(os.WriteFile(copied, old, 0o600), os.WriteFile(filepath.Join(temp, "go.sum"), sums, 0o600)); err != nil {
		return nil, nil, err
	}
	if _, err := goCommand(filepath.Dir(path), "get", "-modfile="+copied, "-tool", toolPath+"@"+toolVersion(file)); err != nil {
		return nil, nil, err
	}
	mod, err := copyChange(copied, path)
	if err != nil {
		return nil, nil, err
	}
	done = append(done, path+": the tool "+toolPath)
	if was, is := goVersion(old), goVersion(mod.new); was != is {
		done = append(done, fmt.Sprintf("%s: go %s, which the tool needs, in place of go %s", path, is, was))
	}
	checked, err := copyChange(filepath.Join(temp, "go.sum"), sum)
	if err != nil {
		return nil, nil, err
	}
	changes = []change{mod}
	if !bytes.Equal(checked.old, checked.new) {
		changes = append(changes, checked)
	}
	return changes, done, nil
}

// goVersion returns the version of Go that a go.mod asks for. One without a line is for 1.16.
func goVersion(mod []byte) string {
	file, err := modfile.ParseLax("go.mod", mod, nil)
	if err != nil || file.Go == nil {
		return "1.16"
	}
	return file.Go.Version
}

// copyChange returns the change that makes a file what another one is.
func copyChange(from, to string) (change, error) {
	text, err := os.ReadFile(from)
	if err != nil {
		return change{}, err
	}
	old, err := os.ReadFile(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return change{}, err
	}
	return change{path: to, old: old, new: text}, nil
}

// toolVersion returns the version of the tool to take: that which the module requires for what is generated, or else that of
// this command, if it is a released one.
func toolVersion(file *modfile.File) string {
	for _, r := range file.Require {
		if r.Mod.Path == modulePath {
			return r.Mod.Version
		}
	}
	if v := version(); semver.IsValid(v) && semver.Build(v) == "" {
		return v
	}
	return "latest"
}

// goCommand returns the output of the go command, or what it says of its failure.
func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir = dir
	if args[0] == "get" { // which, with -modfile, is not for workspaces
		cmd.Env = append(os.Environ(), "GOWORK=off")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			err = errors.New(text)
		}
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, nil
}
