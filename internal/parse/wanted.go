package parse

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// isWanted reports whether the package may have annotated interfaces: it has directives, or it embeds something that may
// come from another package that has. Whether that brings lines is for the type checker to say, who knows the aliases
// and defined types on the way. So it is whether the package still needs the output that it has.
func (s *source) isWanted(p *packages.Package) bool {
	return s.isMarked(p) || s.hasOutput(p) || s.reachesMarked(p) && s.embedsMarked(p)
}

func (s *source) hasOutput(p *packages.Package) bool {
	return slices.ContainsFunc(p.GoFiles, func(path string) bool { return s.read(p, path).generated })
}

// isMarked reports whether a file of the package may have directives.
func (s *source) isMarked(p *packages.Package) bool {
	if !isOurs(p) {
		return false
	}
	for _, path := range p.GoFiles {
		if s.read(p, path).marked {
			return true
		}
	}
	return false
}

// reachesMarked reports whether the package imports one that may have directives, however indirectly.
func (s *source) reachesMarked(p *packages.Package) bool {
	if reaches, ok := s.reaches[p]; ok {
		return reaches
	}
	for _, imported := range p.Imports {
		if s.isMarked(imported) || s.reachesMarked(imported) {
			s.reaches[p] = true
			return true
		}
	}
	s.reaches[p] = false
	return false
}

// embedsMarked reports whether an interface of the package embeds a type that may come from a marked package.
func (s *source) embedsMarked(p *packages.Package) bool {
	var files []*sourceFile
	any := false
	for _, path := range p.GoFiles {
		if f := s.read(p, path); !f.generated {
			files = append(files, f)
			any = any || bytes.Contains(f.src, []byte("interface"))
		}
	}
	if !any {
		return false // parsing is what takes the time
	}
	for _, f := range files {
		if s.parse(p, f.path).parseErr != nil && bytes.Contains(f.src, []byte("interface")) {
			return true
		}
	}
	return bringsIn(syntaxOf(files), func(i int, name string) bool { return s.isForeign(p, files[i], name) })
}

// isForeign reports whether a name in a file is that of an import that neither is marked nor reaches a package that is, as io.
func (s *source) isForeign(p *packages.Package, f *sourceFile, name string) bool {
	if f.imports[name] == nil {
		return false
	}
	imported := p.Imports[pathOf(f.imports[name])]
	return imported != nil && len(imported.Errors) == 0 && !s.isMarked(imported) && !s.reachesMarked(imported)
}

// illegible returns the files with directives that do not parse, of packages that p imports however indirectly: their
// lines may be meant to hold in p. Files that the declarations of p do not need have not been parsed.
func (s *source) illegible(p *packages.Package) []*sourceFile {
	var files []*sourceFile
	seen := make(map[*packages.Package]bool)
	var visit func(p *packages.Package)
	visit = func(p *packages.Package) {
		for _, imported := range p.Imports {
			if seen[imported] || !s.isMarked(imported) && !s.reachesMarked(imported) {
				continue
			}
			seen[imported] = true
			for _, path := range imported.GoFiles {
				if f := s.files[path]; f != nil && f.marked && f.parseErr != nil {
					files = append(files, f)
				}
			}
			visit(imported)
		}
	}
	visit(p)
	return files
}

// isUnsure reports whether the package, or one of the user's that it imports however indirectly, has mistakes that may
// hide annotated interfaces: files that do not parse, imports that are missing, or directives that say nothing. What our
// own output makes the go command complain about hides nothing.
func (s *source) isUnsure(p *packages.Package) bool {
	if unsure, ok := s.unsure[p]; ok {
		return unsure
	}
	unsure := s.hasErrors(p)
	for _, imported := range p.Imports {
		switch {
		case unsure:
		case isOurs(imported):
			unsure = s.isUnsure(imported)
		case imported.Module == nil: // missing, or of the standard library
			unsure = s.hasErrors(imported)
		}
	}
	s.unsure[p] = unsure
	return unsure
}

func (s *source) hasErrors(p *packages.Package) bool {
	errs := p.Errors
	if p.Dir != "" {
		errs = slices.Concat(errs, s.listed.errs[p.Dir])
	}
	for _, err := range errs {
		if strings.HasPrefix(err.Msg, "found packages ") {
			continue // is for the resolver to judge, who does not count our own output
		}
		path := s.listed.position(p.Dir, err).Filename
		if src, readErr := os.ReadFile(path); readErr != nil || !IsOutput(path, src) {
			return true
		}
	}
	for _, path := range p.GoFiles {
		if f := s.files[path]; f != nil && (f.parseErr != nil || f.directives != nil && len(f.directives.diags) > 0) {
			return true
		}
	}
	return false
}
