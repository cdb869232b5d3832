package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ratelimitgen": main})
}

// TestScripts runs the scenarios. Each is a module that can import the runtime, of this working copy, and nothing that is
// not in the module cache. A script that needs another go.mod brings its own.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"ROOT=" + root, "GOPROXY=off", "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	params := testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			mod := filepath.Join(e.WorkDir, "go.mod")
			if _, err := os.Stat(mod); err == nil {
				return nil
			}
			return os.WriteFile(mod, []byte("module example.com/app\n\ngo 1.26\n\n"+
				"require github.com/ratelimitgen/ratelimitgen v0.0.0\n\n"+
				"replace github.com/ratelimitgen/ratelimitgen => "+root+"\n"), 0o666)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"crlf": crlf,
		},
	}
	if testing.Short() { // as under the race detector, where each run takes ten times as long: one for each command
		params.Dir, params.Files = "", []string{
			"testdata/script/generate.txtar", "testdata/script/check.txtar", "testdata/script/list.txtar",
			"testdata/script/vet.txtar", "testdata/script/into.txtar",
		}
	}
	testscript.Run(t, params)
}

// crlf gives a file the line ends of Windows, and a byte order mark.
func crlf(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "\n", "\r\n")
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte("\ufeff"+text), 0o666))
	}
}

func TestFileIsOnlyRewrittenWhenItChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("go.mod", "module example.com/app\n\ngo 1.26\n")
	const source = "package app\n\ntype Users interface {\n\t//ratelimit:count=%d\n\tGet() error\n}\n"
	generated := filepath.Join(dir, "users_ratelimit.go")
	generate := func(count int) os.FileInfo {
		t.Helper()
		write("users.go", fmt.Sprintf(source, count))
		var stderr bytes.Buffer
		if status := run(nil, dir, io.Discard, &stderr); status != exitOK {
			t.Fatalf("status %d: %s", status, &stderr)
		}
		info, err := os.Stat(generated)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}

	generate(5)
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(generated, long, long); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(generated, 0o640); err != nil {
		t.Fatal(err)
	}
	if info := generate(5); !info.ModTime().Equal(long) {
		t.Error("the file was written though nothing has changed")
	}
	info := generate(6)
	if info.ModTime().Equal(long) {
		t.Error("the file was not written though the limit has changed")
	}
	if info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode became %v, want that of the old one", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("the directory holds %v, %v, want no temporary file", entries, err)
	}
}
