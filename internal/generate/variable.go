package generate

import (
	"go/ast"
	"go/token"
	"strings"
	"unicode/utf8"
)

// variableName returns a name for a variable that holds the value of an expression: userID for req.User.ID, region for
// req.Region, tenant for tenantOf(ctx). It need not be free.
func variableName(e ast.Expr) string { return variableNames(e)[0] }

// variableNames returns names for such a variable, the best one first, of which none need be free. Those that follow say
// more of the way to the value: reqUserID.
func variableNames(e ast.Expr) []string {
	words := wordsOf(e)
	n := len(words)
	if n == 0 {
		return []string{"part"}
	}
	first := n - 1
	if n > 1 && (utf8.RuneCountInString(words[first]) == 1 || vague[strings.ToLower(words[first])]) {
		first--
	}
	var names []string
	for ; first >= 0; first-- {
		name := lowerFirst(words[first])
		for _, word := range words[first+1:] {
			name += upperFirst(word)
		}
		names = append(names, name)
	}
	return names
}

// vague are names that alone say too little.
var vague = func() scope {
	s := scope{}
	s.add(strings.Fields("id uuid name key type kind value path code text string number host")...)
	return s
}()

// wordsOf returns the names on the path to a value.
func wordsOf(e ast.Expr) []string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if name := strings.TrimPrefix(e.Name, "$"); token.IsIdentifier(name) { // $ret0, but not $0
			return []string{name}
		}
	case *ast.SelectorExpr:
		return append(wordsOf(e.X), e.Sel.Name)
	case *ast.CallExpr:
		return wordsOfCall(e)
	case *ast.StarExpr:
		return wordsOf(e.X)
	case *ast.IndexExpr:
		words := wordsOf(e.X)
		if len(words) > 0 {
			words[len(words)-1] = singular(words[len(words)-1])
		}
		return words
	case *ast.SliceExpr:
		return wordsOf(e.X)
	case *ast.UnaryExpr:
		return wordsOf(e.X)
	}
	return nil
}

// wordsOfCall names a call for what it returns if its name says that, as GetTenant and tenantOf do. Other functions are
// taken to return another form of their argument.
func wordsOfCall(e *ast.CallExpr) []string {
	words := wordsOf(e.Fun)
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	noun := trimVerb(words[last])
	if len(e.Args) == 0 { // most likely of a method
		return append(words[:last], noun)
	}
	if _, isVariable := ast.Unparen(e.Args[0]).(*ast.Ident); noun == words[last] && (!isVariable || predeclared[noun]) {
		return wordsOf(e.Args[0])
	}
	return []string{noun}
}

// trimVerb returns what a function is called for: Tenant for GetTenant, tenant for tenantOf.
func trimVerb(name string) string {
	for _, prefix := range []string{"Get", "get"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && upperFirst(rest) == rest {
			return rest
		}
	}
	for _, suffix := range []string{"Of", "From", "For"} {
		if rest, ok := strings.CutSuffix(name, suffix); ok && rest != "" {
			return rest
		}
	}
	return name
}

// singular returns what one of many is called: part for parts, entry for entries.
func singular(noun string) string {
	if rest, ok := strings.CutSuffix(noun, "ies"); ok && rest != "" {
		return rest + "y"
	}
	if rest, ok := strings.CutSuffix(noun, "s"); ok && rest != "" && !strings.HasSuffix(rest, "s") {
		return rest
	}
	return noun
}
