package parse

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// tree is all packages in a folder and below, as the go command finds them for a pattern that ends in "/...".
type tree struct {
	root string

	slots   chan struct{} // as many as may work at once
	wg      sync.WaitGroup
	mu      sync.Mutex
	folders []*folder
	err     error // the first
}

// treeOf returns the folder that a pattern with "..." starts from, "" if the pattern is of another kind. The go command
// looks into no tree whose root is among those that it ignores; that and all else out of the ordinary is for itself.
func treeOf(dir, pattern string) string {
	pattern = filepath.ToSlash(pattern)
	start, ok := strings.CutSuffix(pattern, "/...")
	isRelative := start == "." || start == ".." || strings.HasPrefix(start, "./") || strings.HasPrefix(start, "../")
	if !ok || !isRelative || strings.Contains(start, "...") {
		return ""
	}
	root := filepath.Join(dir, filepath.FromSlash(start))
	if isIgnored(filepath.Base(root)) {
		return ""
	}
	return root
}

// isIgnored reports whether the go command ignores a folder of that name, and all below.
func isIgnored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata"
}

// walk finds and scans the folders, several at a time.
func (t *tree) walk() error {
	t.slots = make(chan struct{}, 2*runtime.GOMAXPROCS(0)) // some of them wait for the disk
	t.wg.Go(func() { t.visit(t.root, false) })
	t.wg.Wait()
	return t.err
}

func (t *tree) visit(dir string, isVendor bool) {
	t.slots <- struct{}{}
	entries, err := os.ReadDir(dir)
	f := &folder{dir: dir}
	var below []string
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case name == "go.mod" && dir != t.root && isFile(filepath.Join(dir, name)):
			<-t.slots
			return // another module
		case entry.IsDir():
			if !isIgnored(name) {
				below = append(below, name)
			}
		case isGoFile(dir, entry):
			f.files = append(f.files, name)
		}
	}
	if len(f.files) > 0 {
		f.scan()
	}
	<-t.slots
	t.mu.Lock()
	if len(f.files) > 0 {
		t.folders = append(t.folders, f)
	}
	if t.err == nil {
		t.err = err
	}
	t.mu.Unlock()
	if isVendor { // only the folder itself may be a package of the module
		return
	}
	for _, name := range below {
		t.wg.Go(func() { t.visit(filepath.Join(dir, name), name == "vendor") })
	}
}

// isGoFile reports whether the go command reads a directory's entry as a Go file. Links to directories are none.
func isGoFile(dir string, entry os.DirEntry) bool {
	name := entry.Name()
	if filepath.Ext(name) != ".go" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
		return false
	}
	if entry.Type().IsRegular() {
		return true
	}
	info, err := os.Stat(filepath.Join(dir, name))
	return err != nil || !info.IsDir() // a link to nothing is a file that it cannot read
}

// goFilesIn returns the names of the Go files in a directory, which may be missing.
func goFilesIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, entry := range entries {
		if isGoFile(dir, entry) {
			names = append(names, entry.Name())
		}
	}
	return names
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
