package parse

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// sourceFile is a file of a package, parsed on demand.
type sourceFile struct {
	path   string
	module string // path of its module; "" if unknown
	ours   bool   // see isOurs

	readOnce  sync.Once
	src       []byte
	readErr   error
	generated bool // our own output, which is about to be written anew
	marked    bool // may have directives, and is no output of ours

	parseOnce  sync.Once
	place      *token.File // of a file that is parsed in pieces
	syntax     *ast.File   // never nil after parsing
	parseErr   error
	imports    map[string]*ast.ImportSpec // by name
	directives *directives                // nil if not marked

	methodsOnce sync.Once
	methods     map[token.Pos]declaredMethod
}

// declaredMethod is where an interface method is declared.
type declaredMethod struct {
	literal *ast.InterfaceType
	field   *ast.Field
}

// read returns a file of the package with its bytes.
func (s *source) read(p *packages.Package, path string) *sourceFile {
	s.mu.Lock()
	f := s.files[path]
	if f == nil {
		f = &sourceFile{path: path, module: moduleOf(p), ours: isOurs(p)}
		s.files[path] = f
	}
	s.mu.Unlock()
	f.readOnce.Do(func() {
		f.src, f.readErr = s.readFile(path)
		if f.ours {
			isOutput := IsOutput(path, f.src)
			f.generated = isOutput && !s.listed.keeps(path, originOf(f.src))
			f.marked = !isOutput && (f.readErr != nil || mayHaveDirectives(f.src)) // nobody knows what an unreadable file has
		}
	})
	return f
}

// isOurs reports whether the package is the user's, and not a dependency's: only there directives mean something, and
// our own output is about to change. Files named on the command line are of no module, as is the standard library.
func isOurs(p *packages.Package) bool {
	if p.Module == nil {
		return p.PkgPath == "command-line-arguments"
	}
	return p.Module.Main
}

func moduleOf(p *packages.Package) string {
	if p.Module == nil {
		return ""
	}
	return p.Module.Path
}

// parse returns a file of the package with its syntax and its directives.
func (s *source) parse(p *packages.Package, path string) *sourceFile {
	f := s.read(p, path)
	f.parseOnce.Do(func() {
		mode, src := parser.SkipObjectResolution, f.src
		if f.ours {
			mode |= parser.ParseComments
		} else {
			src = withoutBodies(src)
		}
		if f.parseErr = f.readErr; f.parseErr == nil {
			f.syntax, f.parseErr = s.parseSource(path, src, mode)
		}
		if f.syntax == nil {
			f.syntax = &ast.File{Name: ast.NewIdent("_")}
		}
		if f.marked {
			f.directives = place(s.fset, f)
		}
		f.syntax = prune(f.syntax)
		f.indexImports(p)
	})
	return f
}

// indexImports makes the imports of the file known by their names in it.
func (f *sourceFile) indexImports(p *packages.Package) {
	f.imports = make(map[string]*ast.ImportSpec)
	for _, spec := range f.syntax.Imports {
		f.imports[importName(p, spec)] = spec
	}
}

// parseSource parses a file, or has one that somebody else has parsed. Whether that one is all that there is to the file,
// only parsing it again can tell.
func (s *source) parseSource(path string, src []byte, mode parser.Mode) (*ast.File, error) {
	if syntax := s.parsed[path]; syntax != nil {
		_, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		return syntax, err
	}
	return parser.ParseFile(s.fset, path, src, mode)
}

// importName returns the name by which a file of the package refers to an import, or may do so if the import is not known.
func importName(p *packages.Package, spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	importPath := pathOf(spec)
	if imported := p.Imports[importPath]; imported != nil && imported.Name != "" && !isProgram(p, imported) {
		return imported.Name
	}
	if importPath == runtimePath {
		return "ratelimit"
	}
	return nameFor(importPath)
}

// runtimePath is that of the package that is most likely to be missing, and whose name is not that of its folder.
const runtimePath = "github.com/ratelimitgen/ratelimitgen/runtime"

// isProgram reports whether a package is a command, which none but its own tests can import.
func isProgram(p, imported *packages.Package) bool {
	return imported.Name == "main" && plainPath(imported.PkgPath) != strings.TrimSuffix(plainPath(p.PkgPath), "_test")
}

func pathOf(spec *ast.ImportSpec) string {
	importPath, _ := strconv.Unquote(spec.Path.Value)
	return importPath
}

// fileAt returns the parsed file that holds pos, or nil.
func (s *source) fileAt(pos token.Pos) *sourceFile {
	file := s.fset.File(pos)
	if file == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[file.Name()]
}

// methodAt returns where the interface method whose name stands at pos is declared.
func (f *sourceFile) methodAt(pos token.Pos) (declaredMethod, bool) {
	f.methodsOnce.Do(func() {
		f.methods = make(map[token.Pos]declaredMethod)
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if literal, ok := n.(*ast.InterfaceType); ok {
				for _, field := range literal.Methods.List {
					for _, name := range field.Names {
						f.methods[name.Pos()] = declaredMethod{literal, field}
					}
				}
			}
			return true
		})
	})
	m, ok := f.methods[pos]
	return m, ok
}
