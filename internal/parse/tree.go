package parse

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// tree is a folder with all below that the go command looks into for a pattern that ends in "/...".
type tree struct {
	root string
	see  func(dir string, files []string) // is told the Go files in each folder that has any, several folders at a time

	slots chan struct{} // as many as may work at once
	wg    sync.WaitGroup
	mu    sync.Mutex
	err   error // the first
}

// walkTree calls see for the folders of a tree.
func walkTree(root string, see func(dir string, files []string)) error {
	t := &tree{root: root, see: see}
	t.slots = make(chan struct{}, 2*runtime.GOMAXPROCS(0)) // some of them wait for the disk
	t.wg.Go(func() { t.visit(root, false) })
	t.wg.Wait()
	return t.err
}

func (t *tree) visit(dir string, isVendor bool) {
	t.slots <- struct{}{}
	below, err := t.look(dir)
	<-t.slots
	if err != nil {
		t.mu.Lock()
		t.err = cmp.Or(t.err, err)
		t.mu.Unlock()
	}
	if isVendor { // only the folder itself may be a package of the module
		return
	}
	for _, name := range below {
		t.wg.Go(func() { t.visit(filepath.Join(dir, name), name == "vendor") })
	}
}

// look looks at a folder and returns the names of those below. There is nothing to see in another module.
func (t *tree) look(dir string) (below []string, err error) {
	entries, err := os.ReadDir(dir)
	var files []string
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case name == "go.mod" && dir != t.root && isFile(filepath.Join(dir, name)):
			return nil, nil
		case entry.IsDir():
			if !isIgnored(name) {
				below = append(below, name)
			}
		case isGoFile(dir, entry):
			files = append(files, name)
		}
	}
	if len(files) > 0 {
		t.see(dir, files)
	}
	return below, err
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
