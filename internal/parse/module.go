package parse

import (
	"bytes"
	"context"
	"encoding/json"
	"go/version"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// mainModule is what can be known of the user's module without loading it.
type mainModule struct {
	dir  string // its root
	path string
	file *modfile.File
	env  goEnv

	standard map[string]bool // what isStandard has found, by import path
}

// goEnv are settings of the go command.
type goEnv struct {
	GOFLAGS    string
	GOMOD      string
	GOMODCACHE string
	GOROOT     string
	GOWORK     string
}

// rootAbove returns the nearest directory with a go.mod file that is dir or above it, or "".
func rootAbove(dir string) string {
	for !exists(filepath.Join(dir, "go.mod")) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return dir
}

// moduleAround returns the main module of the go command in a directory, whose root is the given one. It reports false
// for anything out of the ordinary, such as a workspace, or flags by which files are not those on the disk.
func moduleAround(cfg Config, root string) (*mainModule, bool) {
	m := &mainModule{dir: root, standard: make(map[string]bool)}
	cmd := exec.CommandContext(context.Background(), "go", "env", "-json", "GOFLAGS", "GOMOD", "GOMODCACHE", "GOROOT", "GOWORK")
	cmd.Dir, cmd.Env = cfg.Dir, cfg.Env
	if cfg.Dir != "" {
		cmd.Env = append(cmd.Environ(), "PWD="+cfg.Dir) // as go/packages has it: the name by which we know the directory
	}
	out, err := cmd.Output()
	if err != nil || json.Unmarshal(out, &m.env) != nil {
		return nil, false
	}
	goMod := filepath.Join(root, "go.mod")
	inWorkspace := m.env.GOWORK != "" && m.env.GOWORK != "off"
	if m.env.GOMOD != goMod || inWorkspace || strings.Contains(m.env.GOFLAGS, "-overlay") || strings.Contains(m.env.GOFLAGS, "-modfile") {
		return nil, false
	}
	text, err := os.ReadFile(goMod)
	if err != nil {
		return nil, false
	}
	m.file, err = modfile.Parse(goMod, text, nil)
	if err != nil || m.file.Module == nil || m.file.Go == nil || len(m.file.Ignore) > 0 {
		return nil, false
	}
	m.path = m.file.Module.Mod.Path
	return m, m.path != "std" && m.path != "cmd" && !m.isShared()
}

// isShared reports whether another module may have packages below the path of this one: where both do, the go command has
// something to say.
func (m *mainModule) isShared() bool {
	return slices.ContainsFunc(m.file.Require, func(r *modfile.Require) bool { return strings.HasPrefix(r.Mod.Path, m.path+"/") })
}

// pathOf returns the import path of the package in a folder of the module.
func (m *mainModule) pathOf(dir string) string {
	below, err := filepath.Rel(m.dir, dir)
	if err != nil {
		return m.path // not to be imported by anybody
	}
	return path.Join(m.path, filepath.ToSlash(below))
}

// dirOf returns the folder that a package has if it is of the module, and whether its import path is below that of the
// module, which that of another module may be, too.
func (m *mainModule) dirOf(importPath string) (string, bool) {
	below, ok := strings.CutPrefix(importPath, m.path)
	if !ok || below != "" && below[0] != '/' {
		return "", false
	}
	return filepath.Join(m.dir, filepath.FromSlash(below)), true
}

// isStandard reports whether an import path that is not below the module's is of the standard library.
func (m *mainModule) isStandard(importPath string) bool {
	if is, known := m.standard[importPath]; known {
		return is
	}
	is := importPath == "C" || len(goFilesIn(filepath.Join(m.env.GOROOT, "src", filepath.FromSlash(importPath)))) > 0
	m.standard[importPath] = is
	return is
}

// mayBeImported reports whether a package of another module can import one of this module: then that other one requires
// this one, however old. Since go 1.17 a go.mod file lists every module of which the module imports packages, unless the go
// command is to add what is missing.
func (m *mainModule) mayBeImported() bool {
	if len(m.file.Replace) > 0 || strings.Contains(m.env.GOFLAGS, "-mod=mod") || version.Compare("go"+m.file.Go.Version, "go1.17") < 0 {
		return true
	}
	for _, r := range m.file.Require {
		text, err := m.requirements(r.Mod)
		if err != nil || bytes.Contains(text, []byte(m.path)) {
			return true
		}
	}
	return false
}

// requirements returns the go.mod file of another module, as the go command has downloaded it.
func (m *mainModule) requirements(mod module.Version) ([]byte, error) {
	escapedPath, err := module.EscapePath(mod.Path)
	if err != nil {
		return nil, err
	}
	escapedVersion, err := module.EscapeVersion(mod.Version)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(m.env.GOMODCACHE, "cache", "download", filepath.FromSlash(escapedPath), "@v", escapedVersion+".mod"))
}
