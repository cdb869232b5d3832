package parse

import (
	"bytes"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"
)

// folder is what can be known of a package from the bytes of its files, those of all builds and of its tests together.
type folder struct {
	dir   string
	files []string // names of its Go files, as far as the go command reads any

	marked    bool // may have directives
	hasOutput bool
	isOdd     bool // the go command may have something to say about it
	isBroken  bool // it certainly has

	name          string
	imports       map[string]bool
	hasInterfaces bool // that may have something in them
}

// scanFolder reads the package in a folder that has files of the given names.
func scanFolder(dir string, files []string) *folder {
	f := &folder{dir: dir, files: files, imports: make(map[string]bool)}
	for _, name := range files {
		f.scanFile(filepath.Join(dir, name))
	}
	return f
}

func (f *folder) scanFile(path string) {
	src, err := os.ReadFile(path)
	if err != nil {
		f.isBroken = true
		return
	}
	if IsOutput(path, src) {
		f.hasOutput = true
		return
	}
	f.marked = f.marked || mayHaveDirectives(src)
	f.hasInterfaces = f.hasInterfaces || hasInterface(src)
	f.scanHeader(path, src)
}

// scanHeader looks at what the go command looks at.
func (f *folder) scanHeader(path string, src []byte) {
	syntax, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly|parser.SkipObjectResolution)
	if err != nil || !isBuildLineClear(src[:syntax.Package-syntax.FileStart]) {
		f.isBroken = true
		return
	}
	name := syntax.Name.Name
	if strings.HasSuffix(path, "_test.go") {
		name = strings.TrimSuffix(name, "_test")
	}
	switch {
	case name == "documentation": // the go command ignores such files
		return
	case f.name == "":
		f.name = name
	case f.name != name:
		f.isOdd = true
	}
	for _, spec := range syntax.Imports {
		importPath := pathOf(spec)
		f.imports[importPath] = true
		// With these, comments mean something to the go command.
		f.isOdd = f.isOdd || importPath == "C" || importPath == "embed"
	}
}

// isBuildLineClear reports whether the go command understands the build constraint above a package clause.
func isBuildLineClear(header []byte) bool {
	found := false
	for line := range bytes.Lines(bytes.TrimPrefix(header, []byte("\ufeff"))) {
		text := string(bytes.TrimSpace(line))
		if !constraint.IsGoBuild(text) {
			continue
		}
		if _, err := constraint.Parse(text); err != nil || found {
			return false
		}
		found = true
	}
	return true
}

// hasInterface reports whether the file may have an interface that is not empty. It looks at bytes only.
func hasInterface(src []byte) bool {
	const word = "interface"
	for {
		i := bytes.Index(src, []byte(word))
		if i < 0 {
			return false
		}
		src = src[i+len(word):]
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(src, " \t"), []byte("{"))
		if !ok || !bytes.HasPrefix(bytes.TrimSpace(rest[:min(len(rest), 80)]), []byte("}")) {
			return true
		}
	}
}

// isWanted reports whether the folder is to be looked at whatever is in others.
func (f *folder) isWanted(importPath string) bool {
	return f.marked || f.hasOutput || f.isOdd || module.CheckImportPath(importPath) != nil
}

// isOutOfBuild reports whether all files of a package belong to other builds, of those with the given names in its folder. A
// pattern with "..." does not match such a package, and the go command only complains about it where it is named.
func isOutOfBuild(p *packages.Package, files []string) bool {
	return len(p.GoFiles) == 0 && len(p.IgnoredFiles) > 0 && !slices.ContainsFunc(files, func(name string) bool {
		return !slices.Contains(p.IgnoredFiles, filepath.Join(p.Dir, name))
	})
}

// embedsNamed reports whether an interface of the folder embeds something that has a name, of whatever package. What a name
// means depends on the build, on what imported packages are called and on what a dot brings in: only the go command knows.
func (f *folder) embedsNamed() bool {
	return slices.ContainsFunc(f.files, func(name string) bool {
		path := filepath.Join(f.dir, name)
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		return err != nil || embedsNamed(syntax)
	})
}
