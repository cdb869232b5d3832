package parse

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// originPrefix and a dot are around the path of a package, in the line after [Header].
const originPrefix = "// Decorators of "

// HeaderFor is what a file begins with whose decorators are those of another package, with the path of that. The path "" is
// for a file that goes into the package of its interfaces.
func HeaderFor(origin string) string {
	if origin == "" {
		return Header + "\n"
	}
	return Header + "\n" + originPrefix + origin + ".\n"
}

// originOf returns the path that [HeaderFor] has written.
func originOf(src []byte) string {
	_, behind, _ := cutHeader(src)
	line, _, _ := bytes.Cut(bytes.TrimLeft(behind, "\r\n"), []byte("\n"))
	origin, ok := strings.CutPrefix(strings.TrimSpace(string(line)), originPrefix)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(origin, ".")
}

// generatedFile is one of our own files.
type generatedFile struct {
	dir    string
	source string // name of the file whose decorators it has
	origin string // path of that one's package if it is another, see HeaderFor
}

// outputsIn returns our own files in a directory, of all builds.
func outputsIn(dir string) []generatedFile { return outputsAmong(dir, goFilesIn(dir)) }

// outputsAmong returns our own files among those of the given names in a directory.
func outputsAmong(dir string, names []string) []generatedFile {
	var outputs []generatedFile
	for _, name := range names {
		source, ok := SourcePath(name)
		if !ok {
			continue
		}
		path := filepath.Join(dir, name)
		if src, err := os.ReadFile(path); err == nil && IsOutput(path, src) {
			outputs = append(outputs, generatedFile{dir, source, originOf(src)})
		}
	}
	return outputs
}

// hasOrphans reports whether there is a generated file that nobody writes anew, unless it is for whoever generates into
// another package.
func (l *listing) hasOrphans(pkgs []*Package) bool {
	written := make(map[generatedFile]bool) // without its own path
	dirs := make(map[string]bool)
	for _, pkg := range pkgs {
		dirs[pkg.OutputDir()] = true
		for _, f := range pkg.Files {
			origin := ""
			if f.target != nil {
				origin = pkg.Types.Path()
			}
			written[generatedFile{dir: f.Target().Dir, source: filepath.Base(f.Path), origin: origin}] = true
		}
	}
	for dir := range dirs {
		for _, o := range outputsIn(dir) {
			if !written[o] && (o.origin == "" || l.into != nil) {
				return true
			}
		}
	}
	return false
}

// sourceDir returns the directory of the package whose decorators are in an output in a directory, and whether it is known. An
// origin is the path of another package, or "".
func (l *listing) sourceDir(dir, origin string) (string, bool) {
	if origin == "" {
		return dir, true
	}
	var module *packages.Module // the innermost
	for _, m := range l.modules {
		if (origin == m.Path || strings.HasPrefix(origin, m.Path+"/")) && (module == nil || len(m.Path) > len(module.Path)) {
			module = m
		}
	}
	if module == nil {
		return "", false
	}
	return filepath.Join(module.Dir, filepath.FromSlash(strings.TrimPrefix(origin, module.Path))), true
}

// keeps reports whether a generated file is not about to be written anew or removed, and so is read as any other one: that
// with the decorators of another package, if those are not generated now and their source is still there. If nobody knows
// whether it is, as when a module has another path now, a file of that name makes way.
func (l *listing) keeps(path, origin string) bool {
	in := l.into
	switch {
	case origin == "":
		return false
	case in == nil, filepath.Dir(path) != in.dir:
		return true
	case in.sources[origin]:
		return false
	}
	name, _ := SourcePath(filepath.Base(path))
	if dir, known := l.sourceDir(in.dir, origin); known {
		return exists(filepath.Join(dir, name))
	}
	return !in.files[name]
}

// OutputDir is the directory that the package's decorators go into.
func (p *Package) OutputDir() string {
	if p.listed.into != nil {
		return p.listed.into.dir
	}
	return p.Dir
}

// SourceDir returns the directory of the package whose decorators are in a generated file in [Package.OutputDir]. It reports
// false if the file is for a package of another module.
func (p *Package) SourceDir(content []byte) (string, bool) {
	return p.listed.sourceDir(p.OutputDir(), originOf(content))
}
