package generated_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// choices are bytes as decisions: the same bytes make the same package, and none make the simplest one.
type choices struct{ data []byte }

// upTo returns a number below n.
func (c *choices) upTo(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

// once in n times it is true, and false when there is nothing left to choose.
func (c *choices) once(n int) bool { return c.upTo(n) == n-1 }

func (c *choices) of(list ...string) string { return list[c.upTo(len(list))] }

// names are those that a package declares, that its files give to imports, and that parameters have: few, so that they
// meet each other and what decorators declare for themselves.
var names = strings.Fields("id req Job job time context ratelimit errors httplimit http rand s r err ctx call limited ok next " +
	"limiter zero n w v data Job1 refused http1 template std stdtime stdcontext init_ Len")

// predeclaredNames may be hidden, too. Those that the package itself needs are for parameters only.
var (
	predeclaredNames = strings.Fields("len cap uint64 int64 byte any min true false append rune new")
	neededNames      = strings.Fields("nil error string int bool _")
)

// grammar writes random packages, most of which compile.
type grammar struct {
	choices
	taken      map[string]bool   // at package level
	imported   map[string]bool   // names of imports of all files
	imports    map[string]string // those of the file, by path
	interfaces []declared
	typeParams []string
	node, text, number, pair, stream, fields, methods,
	textOf, lenOf string // what the package declares
	code strings.Builder
}

// declared is an interface of the package.
type declared struct {
	name   string
	params int
}

// param is a parameter or a result.
type param struct{ name, typ string }

// randomPackage returns the files of a package.
func randomPackage(data []byte) map[string]string {
	g := &grammar{choices: choices{data}, taken: map[string]bool{}, imported: map[string]bool{}}
	preludeNames := []*string{&g.node, &g.text, &g.number, &g.pair, &g.stream, &g.textOf, &g.lenOf, &g.fields, &g.methods}
	for _, name := range preludeNames {
		*name = g.name()
	}
	if g.once(2) {
		for _, name := range preludeNames {
			*name = g.exported(*name)
		}
	}
	clause := "package " + g.of("random", "http", "ratelimit", "time", "limited", "r") + "\n\n"
	prelude := clause + fmt.Sprintf(`import (
	stdctx "context"
	stdhttp "net/http"
)

type %[1]s struct {
	ID   string
	N    int
	Flag bool
	Next *%[1]s
	Kids map[string][]*%[1]s
	hide string
}

func (x *%[1]s) Name() string { return x.ID }

type %[2]s string

func (x %[2]s) String() string { return "" }

type %[3]s int

type %[4]s[K comparable] struct{ Key K }

type %[5]s interface {
	Context() stdctx.Context
	Send(int) error
}

func %[6]s(x string) string { return x }

func %[7]s[K interface{}](x ...K) int { return 0 }

type %[8]s struct {
	stdctx.Context
	Request *stdhttp.Request
	Writer  stdhttp.ResponseWriter
}

func (x *%[8]s) Abort() {}

type %[9]s interface {
	Request() *stdhttp.Request
	SetRequest(*stdhttp.Request)
	Response() stdhttp.ResponseWriter
}
`, g.node, g.text, g.number, g.pair, g.stream, g.textOf, g.lenOf, g.fields, g.methods)
	files := map[string]string{"prelude.go": prelude}
	for i := range 1 + g.upTo(4) {
		g.imports = map[string]string{}
		g.code.Reset()
		g.declare()
		head := clause
		for _, path := range sortedKeys(g.imports) {
			head += fmt.Sprintf("import %s %q\n", g.imports[path], path)
		}
		files[fmt.Sprintf("random%d.go", i)] = head + "\n" + g.code.String()
	}
	return files
}

// name declares a name.
func (g *grammar) name() string {
	name := g.of(names...)
	if g.once(12) {
		name = g.of(predeclaredNames...)
	}
	for g.taken[name] || g.imported[name] {
		name += g.of("x", "X", "1")
	}
	g.taken[name] = true
	return name
}

// exported declares a name instead of one that it has declared.
func (g *grammar) exported(name string) string {
	delete(g.taken, name)
	name = strings.ToUpper(name[:1]) + name[1:]
	for g.taken[name] || g.imported[name] {
		name += "X"
	}
	g.taken[name] = true
	return name
}

// declare writes an interface with directives, or another name for one.
func (g *grammar) declare() {
	name := g.name()
	if !g.once(3) {
		name = g.exported(name)
	}
	var directives strings.Builder
	if g.once(5) {
		fmt.Fprintf(&directives, "//ratelimit:%s\n", g.directive("", nil, nil, true))
	}
	switch g.upTo(8) {
	case 6:
		fmt.Fprintf(&g.code, "%stype %s %s\n\n", directives.String(), name, g.existing())
		return
	case 7:
		fmt.Fprintf(&g.code, "%stype %s = %s\n\n", directives.String(), name, g.existing())
		return
	}
	list := ""
	if g.once(3) {
		list = g.declareTypeParams()
	}
	methods := g.interfaceBody(name)
	fmt.Fprintf(&g.code, "%stype %s%s interface {\n%s}\n\n", directives.String(), name, list, methods)
	g.interfaces = append(g.interfaces, declared{name, len(g.typeParams)})
	g.typeParams = nil
}

func (g *grammar) declareTypeParams() string {
	var list []string
	for i := range 1 + g.upTo(2) {
		t := g.of("K", "V", "string", "err", "next", "T", "error", "time") + strings.Repeat("T", i)
		constraint := g.of("comparable", "interface{}", "interface{ ~string }", "interface{ ~int | ~uint8 }", "interface{ ~[]byte; Len() int }")
		list = append(list, t+" "+constraint)
		g.typeParams = append(g.typeParams, t)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// existing is an interface that is there already, without type parameters or with arguments for them.
func (g *grammar) existing() string {
	if len(g.interfaces) == 0 || g.once(3) {
		switch g.upTo(6) {
		case 0:
			return g.qualifier("io") + "ReadCloser"
		case 1:
			return g.qualifier("fmt") + "Stringer"
		case 2:
			return g.qualifier("context") + "Context"
		case 3:
			return g.qualifier("net/http") + "Handler"
		case 4:
			return "error"
		}
		return g.stream
	}
	d := g.interfaces[g.upTo(len(g.interfaces))]
	if d.params == 0 {
		return d.name
	}
	args := make([]string, d.params)
	for i := range args {
		args[i] = g.of("string", "int", g.text, g.number)
	}
	return d.name + "[" + strings.Join(args, ", ") + "]"
}

func (g *grammar) interfaceBody(name string) string {
	var body strings.Builder
	methods := map[string]bool{name: g.once(2)}
	for range 1 + g.upTo(4) {
		if g.once(6) {
			if g.once(2) {
				fmt.Fprintf(&body, "\t//ratelimit:%s\n", g.directive("", nil, nil, true))
			}
			fmt.Fprintf(&body, "\t%s\n", g.existing())
			continue
		}
		method := g.of("Get", "Put", "get", "GET", "Next", "Unwrap", "Do", "End", "Allow", "Range", "Login", "Err", "Limited", "Guard", name)
		if methods[method] {
			continue
		}
		methods[method] = true
		params, results := g.signature()
		fallback := ""
		if g.once(6) {
			fallback = g.fallback(params, results)
		}
		for range g.upTo(3) {
			fmt.Fprintf(&body, "\t//ratelimit:%s\n", g.directive(fallback, params, results, false))
		}
		fmt.Fprintf(&body, "\t%s(%s) (%s)\n", method, join(params), join(results))
	}
	return body.String()
}

// join writes a list of parameters.
func join(params []param) string {
	texts := make([]string, len(params))
	for i, p := range params {
		texts[i] = strings.TrimSpace(p.name + " " + p.typ)
	}
	return strings.Join(texts, ", ")
}

// signature returns parameters and results.
func (g *grammar) signature() (params, results []param) {
	used := map[string]bool{}
	list := func(n int, fixed map[int]string) []param {
		named := g.once(2)
		ps := make([]param, n)
		for i := range ps {
			if ps[i].typ = fixed[i]; ps[i].typ == "" {
				ps[i].typ = g.typ(2)
			}
			if !named {
				continue
			}
			name := g.of(names...)
			if g.once(5) {
				name = g.of(append(predeclaredNames, neededNames...)...)
			}
			for used[name] && name != "_" {
				name += "1"
			}
			used[name] = true
			ps[i].name = name
		}
		return ps
	}
	fixed := map[int]string{}
	n := g.upTo(5)
	handles := n > 0 && g.once(5)
	switch {
	case handles:
		fixed[0] = g.of("*"+g.fields, g.methods)
	case n > 0 && g.once(2):
		fixed[0] = g.qualifier("context") + "Context"
	}
	params = list(n, fixed)
	if n > 0 && g.once(5) {
		params[n-1].typ = "..." + params[n-1].typ
	}
	if handles && g.once(2) {
		return params, list(g.upTo(2), map[int]string{0: "error"})
	}
	n = 1 + g.upTo(3)
	switch g.upTo(20) {
	case 18:
		n = 0
	case 19:
	default:
		fixed = map[int]string{n - 1: "error"}
	}
	results = list(n, fixed)
	return params, results
}

// fallback declares a function that may stand in for a method.
func (g *grammar) fallback(params, results []param) string {
	name := g.name()
	list := join(params)
	if g.once(2) && (len(params) == 0 || !strings.HasPrefix(params[len(params)-1].typ, "...")) {
		refusal := "*" + g.qualifier("github.com/ratelimitgen/ratelimitgen/runtime") + "LimitError"
		if len(params) > 0 && params[0].name != "" {
			refusal = "_ " + refusal
		}
		list = strings.TrimPrefix(list+", "+refusal, ", ")
	}
	var typeParams string
	if len(g.typeParams) > 0 {
		typeParams = "[" + strings.Join(g.typeParams, ", ") + " interface{}]"
	}
	fmt.Fprintf(&g.code, "func %s%s(%s) (%s) { panic(0) }\n\n", name, typeParams, list, join(results))
	return name
}

// qualifier imports a package and returns the qualifier for it.
func (g *grammar) qualifier(path string) string {
	if g.imports[path] == "" {
		name := path[strings.LastIndexByte(path, '/')+1:]
		switch {
		case path == "math/rand/v2":
			name = "rand"
		case strings.HasSuffix(path, "/runtime"):
			name = "ratelimit"
		}
		if g.once(4) {
			name = g.of(names...)
		}
		for g.taken[name] || slices.Contains(slices.Collect(maps.Values(g.imports)), name) {
			name += "p"
		}
		g.imported[name] = true
		g.imports[path] = name
	}
	return g.imports[path] + "."
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
