package generated_test

import (
	"fmt"
	"strings"
)

// typ writes a type, down to a depth.
func (g *grammar) typ(depth int) string {
	if depth == 0 || !g.once(2) {
		return g.simpleType()
	}
	depth--
	switch g.upTo(10) {
	case 0:
		return "[]" + g.typ(depth)
	case 1:
		return "*" + g.typ(depth)
	case 2:
		return "map[" + g.key() + "]" + g.typ(depth)
	case 3:
		return g.of("chan ", "<-chan ", "chan<- ") + "(" + g.typ(depth) + ")"
	case 4:
		return fmt.Sprintf("func(%s, ...%s) (%s, error)", g.typ(depth), g.typ(depth), g.typ(depth))
	case 5:
		return "[" + g.length() + "]" + g.typ(depth)
	case 6:
		return fmt.Sprintf("struct{ A %s `json:\"a\"`; b, C %s; %s }", g.typ(depth), g.typ(depth), g.stream)
	case 7:
		return fmt.Sprintf("interface{ M(%s) (%s, error); %s }", g.typ(depth), g.typ(depth), g.stream)
	case 8:
		return g.pair + "[" + g.key() + "]"
	}
	return "func() " + g.typ(depth)
}

func (g *grammar) key() string { return g.of("string", "int", g.text, "[2]"+g.number, g.number) }

func (g *grammar) length() string {
	switch g.upTo(4) {
	case 0:
		return "3"
	case 1:
		return g.qualifier("crypto/sha256") + "Size"
	case 2:
		return g.qualifier("math/bits") + "UintSize"
	}
	return g.qualifier("unsafe") + "Sizeof(uintptr(0)) + 1"
}

func (g *grammar) simpleType() string {
	if len(g.typeParams) > 0 && g.once(3) {
		return g.of(g.typeParams...)
	}
	switch g.upTo(28) {
	case 0, 1, 2:
		return "string"
	case 3, 4:
		return "int"
	case 5:
		return "bool"
	case 6:
		return g.of("[]byte", "byte", "uint64", "int8", "rune", "uintptr")
	case 7:
		return g.of("float64", "complex64", "any", "error")
	case 8, 9, 10:
		return "*" + g.node
	case 11:
		return g.node
	case 12:
		return g.text
	case 13:
		return g.number
	case 14:
		return g.stream
	case 15:
		return g.qualifier("context") + "Context"
	case 16:
		return "*" + g.qualifier("net/http") + "Request"
	case 17:
		return g.qualifier("net/http") + "ResponseWriter"
	case 18:
		return g.qualifier("time") + g.of("Time", "Duration")
	case 19:
		return g.qualifier("math/rand") + "Source"
	case 20:
		return g.qualifier("math/rand/v2") + "PCG"
	case 21:
		return g.qualifier("html/template") + "HTML"
	case 22:
		return "*" + g.qualifier("text/template") + "Template"
	case 23:
		return g.qualifier("sync") + "Mutex"
	case 24:
		return g.qualifier("net/netip") + "Addr"
	case 25:
		return "*" + g.fields
	case 26:
		return g.methods
	}
	return g.qualifier("unsafe") + "Pointer"
}

// directive writes the attributes of a directive for a method, or of a default for many.
func (g *grammar) directive(fallback string, params, results []param, isDefault bool) string {
	attrs := []string{g.of("count=5", "count=2 time=1h", "rate=10/m", "rate=3/1m30s", "count=100 time=1d", "count=1")}
	add := func(attr, value string) { attrs = append(attrs, attr+"="+value) }
	if g.once(3) {
		add("key", g.template(params))
	}
	if g.once(4) {
		add("algorithm", g.of("token-bucket", "fixed-window", "sliding-log", "sliding-window", "leaky-bucket", "concurrency"))
	}
	if g.once(6) {
		add("cost", g.of("1", "2", "0", "{"+g.integer(params, 2)+"}"))
	}
	if g.once(5) {
		add("skip", "{"+g.condition(params, 2)+"}")
	}
	if g.once(5) {
		add("refund", "{"+g.condition(append(append([]param{}, params...), resultNames(results)...), 2)+"}")
	}
	for _, attr := range []string{
		"by=user", "ip", "burst=3", "wait=5s", "fail=open", "mode=shadow", "onempty=share", "prefetch=2", "status=503",
		`message="a \"b\" {c}"`, "name=own", "refill=interval",
	} {
		if g.once(20) {
			attrs = append(attrs, attr)
		}
	}
	for _, attr := range []string{"methods=G*", "fallback=Get", "cuont=5", "\x01\u202e", "{", "count=7", "key="} {
		if g.once(100) {
			attrs = append(attrs, attr)
		}
	}
	if fallback != "" {
		add("fallback", fallback)
	}
	if isDefault && g.once(5) {
		add("methods", g.of("Get", "G*", "Read,Close", "Next"))
	}
	return strings.Join(attrs, g.of(" ", "\t", "  "))
}

// resultNames are what a refund calls results.
func resultNames(results []param) []param {
	named := make([]param, len(results))
	for i, r := range results {
		named[i] = param{fmt.Sprintf("ret%d", i), r.typ}
		if i == len(results)-1 && r.name == "" {
			named[i].name = "err"
		}
	}
	return named
}

func (g *grammar) template(params []param) string {
	text := g.of("key", "a:b", "{{x}}", "ключ", "a  b")
	for range g.upTo(4) {
		text += g.of(":", "", "-") + "{" + g.part(params) + "}"
	}
	return "`" + text + "`"
}

// part writes what a hole of a key may hold.
func (g *grammar) part(params []param) string {
	switch g.upTo(6) {
	case 4:
		return g.of("@ip", "@user")
	case 5:
		return g.integer(params, 2)
	}
	return g.textual(params, 2)
}

// operand is a parameter of one of the types, or else any of them, or a literal.
func (g *grammar) operand(params []param, literal string, kinds ...string) string {
	var fitting []string
	for i, p := range params {
		text := p.name
		if text == "" || text == "_" || g.once(4) && !strings.HasPrefix(text, "ret") && text != "err" {
			text = fmt.Sprintf("$%d", i)
		}
		for _, kind := range kinds {
			if p.typ == kind || strings.HasPrefix(kind, ".") && strings.HasSuffix(p.typ, kind) || g.once(64) {
				fitting = append(fitting, text)
			}
		}
	}
	if len(fitting) == 0 {
		return literal
	}
	return g.of(fitting...)
}

func (g *grammar) pointer(params []param, depth int) string {
	p := g.operand(params, "", "*"+g.node)
	if p == "" || depth == 0 {
		return p
	}
	switch g.upTo(4) {
	case 1:
		return p + ".Next"
	case 2:
		return p + ".Kids[" + g.textual(params, depth-1) + "][" + g.integer(params, depth-1) + "]"
	case 3:
		return p + ".Next.Next"
	}
	return p
}

func (g *grammar) textual(params []param, depth int) string {
	if p := g.pointer(params, depth); p != "" && g.once(2) {
		return p + g.of(".ID", ".Name()", ".hide", ".Next.ID", ".ID[1:]")
	}
	if depth > 0 && g.once(3) {
		inner := g.textual(params, depth-1)
		return g.of(g.textOf+"("+inner+")", "string("+inner+")", inner+`+"x"`, inner+"[1:2]", g.text+"("+inner+")")
	}
	return g.operand(params, `"x"`, append(g.typeParams, "string", g.text, "[]byte", ".Addr", ".Time", ".Duration", ".HTML")...)
}

func (g *grammar) integer(params []param, depth int) string {
	if p := g.pointer(params, depth); p != "" && g.once(2) {
		return p + ".N"
	}
	if depth > 0 && g.once(3) {
		return g.of("len("+g.textual(params, depth-1)+")", g.lenOf+"("+g.textual(params, depth-1)+")",
			"("+g.integer(params, depth-1)+" / "+g.integer(params, depth-1)+")", "1<<"+g.integer(params, depth-1),
			"int64("+g.integer(params, depth-1)+")")
	}
	return g.operand(params, "2", append(g.typeParams, "int", g.number, "uint64", "byte", "rune", "uintptr", ".Duration")...)
}

func (g *grammar) condition(params []param, depth int) string {
	if depth > 0 && g.once(3) {
		a, b := g.condition(params, depth-1), g.condition(params, depth-1)
		return g.of(a+" && "+b, a+" || "+b, "!("+a+")")
	}
	if p := g.pointer(params, depth); p != "" && g.once(2) {
		return p + g.of(".Flag", " == nil", " != nil")
	}
	switch g.upTo(4) {
	case 1:
		return g.textual(params, depth) + ` == "x"`
	case 2:
		return g.integer(params, depth) + " > 1"
	case 3:
		if err := g.operand(params, "", "error"); err != "" {
			return err + " == nil"
		}
	}
	return g.operand(params, "1 > 2", "bool")
}
