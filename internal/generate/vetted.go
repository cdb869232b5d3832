package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
)

// vetted are the analyzers that go test runs before the tests of a package, as far as an expression can fail them. That for
// string(n) is [expressionCheck.wantDigits].
var vetted = []*analysis.Analyzer{bools.Analyzer, errorsas.Analyzer, nilfunc.Analyzer, printf.Analyzer}

// checkVet reports what would keep go test from running the tests of the package that has the decorators, in the words of the
// analyzer that says so, and whether there is nothing.
func (c *expressionCheck) checkVet(e *expression) bool {
	if !isVettable(e.node) {
		return true
	}
	ok := true
	v := vetting{fset: c.builder.source.Package.Fset, pkg: c.home, info: e.info, results: map[*analysis.Analyzer]any{}}
	v.file = v.fileOf(e.node)
	for _, a := range vetted {
		v.run(a, func(d analysis.Diagnostic) {
			c.refuse(d.Pos, d.Message)
			ok = false
		})
	}
	return ok
}

// isVettable reports whether an expression has anything that the analyzers look at.
func isVettable(node ast.Expr) bool {
	found := false
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || len(n.Args) > 0
		case *ast.BinaryExpr:
			found = found || slices.Contains([]token.Token{token.LAND, token.LOR, token.EQL, token.NEQ}, n.Op)
		}
		return !found
	})
	return found
}

// vetting runs analyzers on a file, with nothing known about functions but what is built in. So go test still refuses an
// expression that calls, with wrong arguments, a function that passes them on to fmt.Sprintf: that it does so is a fact, for which
// function bodies would have to be read.
type vetting struct {
	fset    *token.FileSet
	file    *ast.File
	pkg     *types.Package
	info    *types.Info
	results map[*analysis.Analyzer]any
}

// fileOf returns a file with an expression and with the imports that it mentions.
func (v *vetting) fileOf(node ast.Expr) *ast.File {
	pos := node.Pos()
	imports := &ast.GenDecl{TokPos: pos, Tok: token.IMPORT}
	v.info.Implicits = map[ast.Node]types.Object{}
	for _, name := range identsOf(node) {
		if imported, ok := v.info.Uses[name].(*types.PkgName); ok {
			spec := &ast.ImportSpec{Path: &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(imported.Imported().Path())}}
			v.info.Implicits[spec] = imported
			imports.Specs = append(imports.Specs, spec)
		}
	}
	value := &ast.ValueSpec{Names: []*ast.Ident{{NamePos: pos, Name: "_"}}, Values: []ast.Expr{node}}
	file := &ast.File{
		Package: pos, FileStart: pos, FileEnd: node.End(),
		Name:  &ast.Ident{NamePos: pos, Name: v.pkg.Name()},
		Decls: []ast.Decl{imports, &ast.GenDecl{TokPos: pos, Tok: token.VAR, Specs: []ast.Spec{value}}},
	}
	v.info.FileVersions = map[*ast.File]string{file: v.pkg.GoVersion()}
	return file
}

// run runs an analyzer after those that it requires. One that fails has found nothing.
func (v *vetting) run(a *analysis.Analyzer, report func(analysis.Diagnostic)) {
	if _, done := v.results[a]; done {
		return
	}
	for _, required := range a.Requires {
		v.run(required, func(analysis.Diagnostic) {})
	}
	v.results[a], _ = a.Run(&analysis.Pass{
		Analyzer:         a,
		Fset:             v.fset,
		Files:            []*ast.File{v.file},
		Pkg:              v.pkg,
		TypesInfo:        v.info,
		Report:           report,
		ResultOf:         v.results,
		ImportObjectFact: func(types.Object, analysis.Fact) bool { return false },
		ExportObjectFact: func(types.Object, analysis.Fact) {},
	})
}
