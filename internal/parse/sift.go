package parse

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// sieve finds the packages that can matter by the bytes of their files. The go command would load them all, with all that
// they import, which takes long in a large module of which a few packages have directives.
//
// It guesses at no name of a package or of a type. Where in doubt, a package can matter: it is only slow to look at one too
// many, of which the go command then tells more, see [source.isWanted].
type sieve struct {
	module  *mainModule
	folders map[string]*folder   // by directory
	trees   map[string][]*folder // by the pattern that matches them
}

// maxSifted is how many folders may stand for a pattern: a command line has an end.
const maxSifted = 400

// sift returns what to ask the go command for instead of the patterns, and the folders that are named there instead of a
// pattern, by their directories. There are none where only the go command itself knows what the patterns mean.
func sift(cfg Config, patterns []string) (fewer []string, named map[string]*folder) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return patterns, nil
	}
	s := &sieve{folders: make(map[string]*folder), trees: make(map[string][]*folder)}
	if !s.scan(cfg, dir, patterns) {
		return patterns, nil
	}
	origins, ok := s.origins(cfg, dir)
	if !ok {
		return patterns, nil
	}
	wanted := s.wanted(origins)
	named = make(map[string]*folder)
	for _, pattern := range patterns {
		var chosen []string
		for _, f := range s.trees[pattern] {
			if wanted[f] {
				chosen = append(chosen, f.dir)
			}
		}
		if len(chosen) == 0 || 2*len(chosen) > len(s.trees[pattern]) || len(chosen) > maxSifted {
			fewer = append(fewer, pattern)
			continue
		}
		slices.Sort(chosen)
		for _, path := range chosen {
			below, err := filepath.Rel(dir, path)
			if err != nil {
				return patterns, nil
			}
			fewer = append(fewer, "."+string(filepath.Separator)+below)
			named[path] = s.folders[path]
		}
	}
	return fewer, named
}

// scan reads the folders of all patterns with "...". It reports whether there are any, and all of them are plain folders of
// the main module with files that the go command understands.
func (s *sieve) scan(cfg Config, dir string, patterns []string) bool {
	root := rootAbove(dir)
	if root == "" {
		return false
	}
	trees := make(map[string]string) // roots, by pattern
	for _, pattern := range patterns {
		path := treeOf(dir, pattern)
		switch {
		case path != "" && isPlainlyBelow(root, path):
			trees[pattern] = path
		case path != "":
			return false
		}
	}
	if len(trees) == 0 {
		return false
	}
	known := make(chan bool)
	go func() {
		module, ok := moduleAround(cfg, root)
		s.module = module
		known <- ok
	}()
	ok := true
	for pattern, path := range trees {
		var mu sync.Mutex
		err := walkTree(path, func(dir string, files []string) {
			f := scanFolder(dir, files)
			mu.Lock()
			defer mu.Unlock()
			ok = ok && !f.isBroken // the words of the go command depend on all that it sees
			if other := s.folders[dir]; other != nil {
				f = other // of another pattern
			}
			s.folders[dir] = f
			s.trees[pattern] = append(s.trees[pattern], f)
		})
		ok = ok && err == nil
	}
	return <-known && ok
}

// isPlainlyBelow reports whether a folder is in the module with its root in another one, and no link, vendored package or
// other module is between.
func isPlainlyBelow(root, dir string) bool {
	below, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(below) || rootAbove(dir) != root {
		return false
	}
	for element := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		if element == "vendor" {
			return false
		}
	}
	return realPath(dir) == filepath.Join(realPath(root), below)
}

// origins returns the folders of the packages whose decorators are in the one that [Config.Into] names: it matters whether
// they still have directives. It reports false if one is of another module, or gone.
func (s *sieve) origins(cfg Config, dir string) ([]string, bool) {
	if cfg.Into == "" {
		return nil, true
	}
	into := cfg.Into
	if !filepath.IsAbs(into) {
		into = filepath.Join(dir, into)
	}
	var dirs []string
	for _, o := range outputsIn(into) {
		if o.origin == "" {
			continue
		}
		f, _ := s.folder(o.origin)
		if f == nil {
			return nil, false
		}
		dirs = append(dirs, f.dir)
	}
	return dirs, true
}

// wanted returns the folders that can matter: those with directives or output, those about which the go command may have
// something to say, those in the given directories, and those that may bring in methods with directives from others.
func (s *sieve) wanted(dirs []string) map[*folder]bool {
	wanted := make(map[*folder]bool)
	var others []*folder
	for path, f := range s.folders {
		switch {
		case f.isWanted(s.module.pathOf(path)) || slices.Contains(dirs, path):
			wanted[f] = true
		case f.hasInterfaces:
			others = append(others, f)
		}
	}
	if len(others) == 0 {
		return wanted
	}
	reaching := s.reaching(others)
	others = slices.DeleteFunc(others, func(f *folder) bool { return !reaching[f] })
	for _, f := range bringing(others) {
		wanted[f] = true
	}
	return wanted
}

// bringing returns those of the folders with interfaces that embed something by name: it may have methods from anywhere.
// These files are parsed, several folders at a time.
func bringing(folders []*folder) []*folder {
	var (
		wg    sync.WaitGroup
		slots = make(chan struct{}, runtime.GOMAXPROCS(0))
		mu    sync.Mutex
		found []*folder
	)
	for _, f := range folders {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if f.embedsNamed() {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, f)
			}
		})
	}
	wg.Wait()
	return found
}

// reaching returns the folders that import one with directives, however indirectly, or a package that is none of the
// module's and may do so. Those that the given ones import are scanned if they have not been.
func (s *sieve) reaching(from []*folder) map[*folder]bool {
	importers := make(map[*folder][]*folder)
	reaching := make(map[*folder]bool)
	var found []*folder // those that are reaching, and those with directives
	mayReturn := sync.OnceValue(s.module.mayBeImported)
	seen := make(map[*folder]bool)
	for queue := slices.Clone(from); len(queue) > 0; {
		f := queue[0]
		queue = queue[1:]
		if seen[f] {
			continue
		}
		seen[f] = true
		if f.marked {
			found = append(found, f)
		}
		for importPath := range f.imports {
			imported, isBelow := s.folder(importPath)
			switch {
			case imported != nil:
				importers[imported] = append(importers[imported], f)
				queue = append(queue, imported)
			case !reaching[f] && (isBelow || !s.module.isStandard(importPath) && mayReturn()):
				reaching[f] = true
				found = append(found, f)
			}
		}
	}
	for len(found) > 0 {
		f := found[0]
		found = found[1:]
		for _, importer := range importers[f] {
			if !reaching[importer] {
				reaching[importer] = true
				found = append(found, importer)
			}
		}
	}
	return reaching
}

// folder returns the package of an import path, nil if it is none of the module's, and whether the path is below that of the
// module: a module inside may have it, or one that has its root nobody knows where.
func (s *sieve) folder(importPath string) (f *folder, isBelow bool) {
	dir, isBelow := s.module.dirOf(importPath)
	if !isBelow {
		return nil, false
	}
	f, known := s.folders[dir]
	if !known {
		if files := goFilesIn(dir); len(files) > 0 && rootAbove(dir) == s.module.dir {
			f = scanFolder(dir, files)
		}
		s.folders[dir] = f
	}
	return f, true
}
