package parse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// usesC reports whether types of the package may come from C, of which the type checker knows nothing. Those of the
// standard library do not.
func usesC(c *checkedPackage) bool {
	return slices.ContainsFunc(c.files, func(f *sourceFile) bool {
		return slices.ContainsFunc(f.syntax.Imports, func(spec *ast.ImportSpec) bool { return pathOf(spec) == "C" })
	})
}

// dependsOnC reports whether the package uses C, or its declarations depend on a package that does, however indirectly.
func (s *source) dependsOnC(c *checkedPackage, seen map[*checkedPackage]bool) bool {
	if seen[c] {
		return false
	}
	seen[c] = true
	isStandard := c.pkg.Module == nil && !isOurs(c.pkg)
	return !isStandard && usesC(c) ||
		slices.ContainsFunc(c.needs, func(p *packages.Package) bool { return s.dependsOnC(s.unchecked(p), seen) })
}

// packageC returns the package C as a package sees it that cgo has been asked about. It is nil if that has not been, or
// cannot tell.
func (s *source) packageC(p *packages.Package, c *checkedPackage) *types.Package {
	if s.askCgo == nil || p.Module == nil && !isOurs(p) || !usesC(c) {
		return nil
	}
	declared, err := s.askCgo(p)
	if c.cgoErr = err; err != nil {
		return nil
	}
	all := types.NewPackage("C", "C")
	for _, name := range declared.Scope().Names() {
		if obj := inC(all, declared.Scope().Lookup(name)); obj != nil {
			all.Scope().Insert(obj)
		}
	}
	if all.Scope().Len() == 0 { // whoever has the package has not asked
		c.cgoErr = errors.New("it has not been run")
		return nil
	}
	all.MarkComplete()
	return all
}

// inC returns what the package C has for something that cgo declares, or nil. That is called _Ctype_name for C.name, or
// _Cfunc_name, and so on.
func inC(c *types.Package, obj types.Object) types.Object {
	prefixed, ok := strings.CutPrefix(obj.Name(), "_C")
	kind, name, isC := strings.Cut(prefixed, "_")
	if !ok || !isC {
		return nil
	}
	switch obj := obj.(type) {
	case *types.TypeName:
		return types.NewTypeName(token.NoPos, c, name, obj.Type())
	case *types.Const:
		return types.NewConst(token.NoPos, c, name, obj.Type(), obj.Val())
	case *types.Func:
		switch kind {
		case "func":
			return types.NewVar(token.NoPos, c, name, obj.Type())
		case "macro": // which returns it
			return types.NewVar(token.NoPos, c, name, obj.Signature().Results().At(0).Type())
		}
	case *types.Var:
		if pointer, ok := obj.Type().(*types.Pointer); ok {
			return types.NewVar(token.NoPos, c, name, pointer.Elem())
		}
	}
	return nil
}

// ofCgo reports whether the type is one that cgo declares, which only files that it has read can name.
func ofCgo(obj *types.TypeName) bool { return strings.HasPrefix(obj.Name(), "_Ctype_") }

// isAboutCgo reports whether a mistake is none, being about the letter case of what C declares.
func isAboutCgo(err types.Error) bool {
	return strings.HasSuffix(err.Msg, " not exported by package C")
}

// runCgo runs cgo for a package, which takes a C compiler, and returns what it declares for what the package mentions of C.
func (l *Listing) runCgo(p *packages.Package, sizes types.Sizes) (*types.Package, error) {
	args := []string{"list", "-e", "-compiled", "-json=CompiledGoFiles,Error,DepsErrors"}
	if l.cfg.Tags != "" {
		args = append(args, "-tags="+l.cfg.Tags)
	}
	args = append(args, "--")
	if p.Module == nil { // files on the command line
		args = append(args, p.GoFiles...)
	} else {
		args = append(args, p.PkgPath)
	}
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir, cmd.Env = l.cfg.Dir, l.cfg.Env
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, errors.New(string(bytes.TrimSpace(exit.Stderr)))
	} else if err != nil {
		return nil, err
	}
	type listError struct{ Err string }
	var listed struct {
		CompiledGoFiles []string
		Error           *listError
		DepsErrors      []*listError // as of runtime/cgo if there is no C compiler
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, err
	}
	for _, failed := range append(listed.DepsErrors, listed.Error) {
		if failed != nil && len(listed.CompiledGoFiles) == 0 {
			return nil, errors.New(withoutHeadline(failed.Err))
		}
	}
	for _, path := range listed.CompiledGoFiles {
		if !filepath.IsAbs(path) { // a source; what cgo writes is in the build cache, under names of its own
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(src, []byte("\nfunc _Cgo_ptr(")) {
			return checkCgo(p.PkgPath, src, sizes)
		}
	}
	return nil, errors.New("cgo has written nothing")
}

// withoutHeadline returns the first line of what a tool says, which is behind the package that it says it about.
func withoutHeadline(words string) string {
	for line := range strings.Lines(words) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "# ") {
			return line
		}
	}
	return words
}

// checkCgo type-checks the declarations of cgo for the package of that path, which owns them. Of what they import they need a
// struct that stands for those of which C tells no fields.
func checkCgo(path string, src []byte, sizes types.Sizes) (*types.Package, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	conf := types.Config{
		IgnoreFuncBodies: true,
		Sizes:            sizes,
		Error:            func(error) {},
		Importer: importer(func(path string) (*types.Package, error) {
			if path == "unsafe" {
				return types.Unsafe, nil
			}
			imported := emptyPackage(path, "_cgopackage")
			name := types.NewTypeName(token.NoPos, imported, "Incomplete", nil)
			types.NewNamed(name, types.NewStruct(nil, nil), nil)
			imported.Scope().Insert(name)
			return imported, nil
		}),
	}
	pkg, _ := conf.Check(path, fset, []*ast.File{file}, nil) // there is always one
	return pkg, nil
}
