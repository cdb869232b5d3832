package generate

import (
	"go/token"
	"go/types"
	"maps"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// scope is a set of names that are taken. Names are chosen in one order: what the user wrote stays, then come our
// imports, receivers and locals, each outside everything that was chosen before it.
type scope map[string]bool

// predeclared is the scope around all packages. A name of ours that hides one of it would mislead a reader.
var predeclared = func() scope {
	s := scope{}
	s.add(types.Universe.Names()...)
	return s
}()

// add takes names.
func (s scope) add(names ...string) {
	for _, name := range names {
		s[name] = true
	}
}

// include takes the names of another scope.
func (s scope) include(other scope) { maps.Copy(s, other) }

// free reports whether name is a Go identifier that is not taken.
func (s scope) free(name string) bool { return token.IsIdentifier(name) && name != "_" && !s[name] }

// pick takes and returns the first of the candidates that is free, or else the last of them with the first number that
// makes it so.
func (s scope) pick(candidates ...string) string {
	for _, name := range candidates {
		if s.free(name) {
			s.add(name)
			return name
		}
	}
	return s.numbered(candidates[len(candidates)-1], 2)
}

// numbered takes and returns base with the first free number from n on. A base that no number makes an identifier is v.
func (s scope) numbered(base string, n int) string {
	if !token.IsIdentifier(base + "1") {
		base = "v"
	}
	for {
		if name := base + strconv.Itoa(n); s.free(name) {
			s.add(name)
			return name
		}
		n++
	}
}

// union returns a new scope of all names in the given ones.
func union(scopes ...scope) scope {
	all := scope{}
	for _, s := range scopes {
		for name := range s {
			all.add(name)
		}
	}
	return all
}

// lowerFirst returns name as it is spelled unexported: testGet, id, httpServer, getURL.
func lowerFirst(name string) string {
	runes := []rune(name)
	for i := range runes {
		if !unicode.IsUpper(runes[i]) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

func upperFirst(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}

func firstLetter(name string) string {
	r, _ := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r))
}

// lastWord returns the last word of a name in camel case: Service of TestService, ID of UserID.
func lastWord(name string) string {
	start := strings.LastIndexFunc(name, unicode.IsUpper)
	if start < 0 {
		return name
	}
	if last, _ := utf8.DecodeLastRuneInString(name); unicode.IsUpper(last) {
		return name[len(strings.TrimRightFunc(name, unicode.IsUpper)):]
	}
	return name[start:]
}

// decoratorNames returns the names of an interface's decorator and of its constructor, exported as the interface is.
func decoratorNames(iface string) (decorator, constructor string) {
	decorator = parse.DecoratorName(iface)
	if token.IsExported(iface) {
		return decorator, "New" + decorator
	}
	return decorator, "new" + upperFirst(decorator)
}

// paramName returns a name for a parameter that has none, by its type. It need not be free.
func paramName(t types.Type, variadic bool) string {
	switch {
	case isContext(t):
		return "ctx"
	case isResponseWriter(t):
		return "w"
	case isRequest(t):
		return "r"
	case isError(t):
		return "err"
	case exchangeOf(t) != noExchange:
		return "c"
	}
	switch t := t.(type) {
	case *types.Alias:
		if t.Obj().Pkg() == nil { // any
			return "v"
		}
		return lowerFirst(lastWord(t.Obj().Name()))
	case *types.Named:
		return lowerFirst(lastWord(t.Obj().Name()))
	case *types.TypeParam:
		return lowerFirst(t.Obj().Name())
	case *types.Pointer:
		return paramName(t.Elem(), false)
	case *types.Slice:
		return elementsName(t.Elem(), variadic)
	case *types.Array:
		return elementsName(t.Elem(), false)
	case *types.Map:
		return "entries"
	case *types.Chan:
		return "ch"
	case *types.Signature:
		return "fn"
	case *types.Basic:
		return basicName(t)
	}
	return "v"
}

func basicName(t *types.Basic) string {
	switch info := t.Info(); {
	case info&types.IsString != 0:
		return "s"
	case info&types.IsBoolean != 0:
		return "ok"
	case info&types.IsInteger != 0:
		return "n"
	case info&types.IsFloat != 0:
		return "f"
	}
	return "v"
}

func elementsName(elem types.Type, variadic bool) string {
	switch elem := elem.(type) {
	case *types.Basic:
		if elem.Kind() == types.Byte {
			return "data"
		}
	case *types.Slice, *types.Array, *types.Map:
		return paramName(elem, false) // a plural
	}
	if name := paramName(elem, false); utf8.RuneCountInString(name) > 2 {
		return plural(name)
	}
	if variadic {
		return "args"
	}
	return "values"
}

func plural(noun string) string {
	last := noun[len(noun)-1]
	switch {
	case last == 's' || last == 'x' || strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "sh"):
		return noun + "es"
	case last == 'y' && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		return noun[:len(noun)-1] + "ies"
	}
	return noun + "s"
}
