package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// checkNames reports names that are not what they seem to be, of which the type checker knows nothing.
func (c *expressionCheck) checkNames(node ast.Expr, scope *types.Scope) bool {
	sig := c.method.sig
	ok := true
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if isC(n.X, scope) {
				c.refuse(n.Pos(), "only files that cgo reads know C, and none is generated: want a constant or a function of the package")
				ok = false
			}
			ok = c.checkNames(n.X, scope) && ok
			return false
		case *ast.Ident:
			problem := ""
			switch {
			case strings.HasPrefix(n.Name, "$") && scope.Lookup(n.Name) == nil:
				problem = fmt.Sprintf("undefined: %s, want %s", n.Name, numberRange("$", sig.Params().Len(), "parameters"))
			case c.attr == "refund":
				problem = hiddenResult(sig, n.Name)
			}
			if problem != "" {
				c.refuse(n.Pos(), problem)
				ok = false
			}
		}
		return true
	})
	return ok
}

// isC reports whether an expression is the package C of cgo.
func isC(x ast.Expr, scope *types.Scope) bool {
	name, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	_, obj := scope.LookupParent(name.Name, token.NoPos)
	imported, ok := obj.(*types.PkgName)
	return ok && imported.Imported().Path() == "C"
}

// hiddenResult returns why a name is not that of the result which whoever writes it in a refund means, or "": a parameter
// is called err, or ret0. A result that is called so is what its name says, whichever number it has.
func hiddenResult(sig *types.Signature, name string) string {
	last := sig.Results().Len() - 1
	param := slices.Index(names(sig.Params()), name)
	if name == "err" {
		if param >= 0 && last >= 0 && isError(sig.Results().At(last).Type()) {
			return fmt.Sprintf("err is a parameter and not the error result: want $%d or ret%d", param, last)
		}
		return ""
	}
	digits, ok := strings.CutPrefix(name, "ret")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil || strconv.Itoa(number) != digits || number < 0 || number > last {
		return ""
	}
	if param >= 0 {
		return fmt.Sprintf("%s is a parameter and not the result of that number: want $%d, or another name for the parameter", name, param)
	}
	return ""
}

// numberRange returns the names of n parameters or results by their numbers.
func numberRange(prefix string, n int, what string) string {
	switch n {
	case 0:
		return "none, there are no " + what
	case 1:
		return prefix + "0"
	}
	return fmt.Sprintf("%[1]s0 to %[1]s%d", prefix, n-1)
}

// checkSyntax reports what an expression of a directive must not hold: what changes something, may panic for other reasons
// than those that generated code asks for before, or is a small program.
func (c *expressionCheck) checkSyntax(node ast.Expr) bool {
	ok := true
	refuse := func(n ast.Node, message string) {
		c.refuse(n.Pos(), message)
		ok = false
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			refuse(n, "function literal: want a call of a function of the package")
		case *ast.CompositeLit:
			refuse(n, "composite literal: want a call of a function of the package that makes one")
		case *ast.TypeAssertExpr:
			refuse(n, "type assertion: want a call of a function of the package that makes it")
		case *ast.UnaryExpr:
			if n.Op == token.AND || n.Op == token.ARROW {
				refuse(n, n.Op.String()+": want a value that is there already")
			}
		}
		return ok
	})
	return ok
}
