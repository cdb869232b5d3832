package main

import (
	"fmt"
	"go/format"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// writeInterfaces writes a package for each package that has interfaces to be decorated, and in it a file for each of them.
func (w *workspace) writeInterfaces(modules []*module) error {
	names := map[string]bool{} // of packages: equal ones would have equal keys
	dirs := map[string]string{}
	for _, m := range modules {
		for _, s := range m.subjects {
			if s.reason != "" {
				continue
			}
			pkg := s.object.Pkg()
			if dirs[pkg.Path()] == "" {
				dirs[pkg.Path()] = unused(names, pkg.Name())
			}
			dir := filepath.Join(w.dir, "decorated", dirs[pkg.Path()])
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			path := filepath.Join(dir, strings.ToLower(strings.ReplaceAll(s.object.Name(), "_", ""))+".go")
			for w.files[path] != nil { // names may differ in case only
				path = strings.TrimSuffix(path, ".go") + "x.go"
			}
			w.files[path] = s
			source, err := format.Source([]byte(s.source(filepath.Base(dir))))
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
			if err := os.WriteFile(path, source, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// unused returns the name, with a number if it was returned before.
func unused(names map[string]bool, name string) string {
	free := name
	for n := 2; names[free]; n++ {
		free = name + strconv.Itoa(n)
	}
	names[free] = true
	return free
}

// source returns a file of package pkg with annotated interfaces that embed the subject: one of the same name with a plain
// limit, and one with all that limits can ask for.
func (s *subject) source(pkg string) string {
	imports := importer{names: map[string]bool{}, paths: map[string]string{}}
	embedded := imports.qualify(s.object.Pkg()) + "." + s.object.Name()
	var declared, args []string
	for param := range s.typeParams().TypeParams() {
		if s.args == nil {
			declared = append(declared, param.Obj().Name()+" "+types.TypeString(param.Constraint(), imports.qualify))
			args = append(args, param.Obj().Name())
		}
	}
	for _, arg := range s.args {
		args = append(args, types.TypeString(arg, imports.qualify))
	}
	embedded += list(args)
	var decls strings.Builder
	declare := func(directives, name, more string) {
		fmt.Fprintf(&decls, "%stype %s%s interface {\n%s\n%s}\n\n", directives, name, list(declared), embedded, more)
	}
	if len(s.limited) > 0 {
		declare(s.plain(), s.object.Name(), "")
	} else {
		context := imports.qualify(types.NewPackage("context", "context"))
		declare("", s.object.Name(), fmt.Sprintf("//ratelimit:count=5\n%s(%s.Context) error\n", s.anotherMethod(), context))
	}
	if directives := s.elaborate(); directives != "" {
		declare(directives, "Elaborate"+s.object.Name(), "")
	}
	for _, m := range s.others {
		signature := strings.TrimPrefix(types.TypeString(m.Signature(), imports.qualify), "func")
		fmt.Fprintf(&decls, "func %s%s { panic(\"too many\") }\n\n", s.fallback(m), signature)
	}
	return fmt.Sprintf("package %s\n\n%s\n%s", pkg, imports, &decls)
}

// list returns type parameters or arguments in brackets, "" if there are none.
func list(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// anotherMethod returns the name of a method that the interface does not have.
func (s *subject) anotherMethod() string {
	name := "Limited"
	for object, _, _ := types.LookupFieldOrMethod(s.object.Type(), false, s.object.Pkg(), name); object != nil; {
		name += "Too"
		object, _, _ = types.LookupFieldOrMethod(s.object.Type(), false, s.object.Pkg(), name)
	}
	return name
}

// importer names the packages that a file imports.
type importer struct {
	names map[string]bool
	paths map[string]string // names by path
}

func (i importer) qualify(pkg *types.Package) string {
	if i.paths[pkg.Path()] == "" {
		i.paths[pkg.Path()] = unused(i.names, pkg.Name())
	}
	return i.paths[pkg.Path()]
}

// String returns the import declarations.
func (i importer) String() string {
	var lines []string
	for path, name := range i.paths {
		lines = append(lines, fmt.Sprintf("import %s %q\n", name, path))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
