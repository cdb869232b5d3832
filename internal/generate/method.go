package generate

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// method is the plan of one method of a decorator.
type method struct {
	*parse.Method
	decorator *decorator
	name      string
	sig       *types.Signature
	shape     shape
	context   contextSource
	guard     string   // the field of its guard, "" without a limit
	params    []string // never blank
	err       string   // the variable that holds a refusal
	zeros     []zero   // of the results, the error excepted
}

// method plans a method and reports limits that it cannot keep.
func (b *builder) method(d *decorator, m *parse.Method) *method {
	sig := m.Func.Signature()
	planned := &method{
		Method:    m,
		decorator: d,
		name:      m.Func.Name(),
		sig:       sig,
		shape:     shapeOf(sig),
		context:   contextOf(sig),
	}
	b.checkLimits(planned)
	b.lengths.readMethod(b.source.Package.Fset, m.Func)
	return planned
}

func (m *method) limited() bool { return len(m.Limits) > 0 }

// imports returns the paths of the packages that the method's body cannot do without.
func (m *method) imports() []string {
	var paths []string
	if m.limited() && m.context.param < 0 {
		paths = append(paths, "context")
	}
	if m.limited() && m.shape != returnsError {
		paths = append(paths, httplimitPath)
	}
	return paths
}

// userNames are the names that the user has given to parameters.
func (m *method) userNames() scope {
	taken := scope{}
	taken.add(names(m.sig.Params())...)
	return taken
}

// nameParams names the parameters that have no name. Those that have one keep it if the body can do without what it means
// otherwise.
func (m *method) nameParams(avoid scope) {
	m.params = names(m.sig.Params())
	taken, needed := union(avoid, m.userNames()), m.needed()
	if m.limited() {
		taken = union(taken, m.mentionedResults())
	}
	for i, name := range m.params {
		if needed[name] {
			m.params[i] = taken.pick(name + "_")
		}
	}
	words := map[int]string{}
	count := map[string]int{}
	for i, name := range m.params {
		if name != "" && name != "_" {
			continue
		}
		v := m.sig.Params().At(i)
		word := paramName(v.Type(), m.sig.Variadic() && i == m.sig.Params().Len()-1)
		if !taken.free(word) {
			word = firstLetter(word)
		}
		words[i] = word
		count[word]++
	}
	for i := range m.params {
		switch word := words[i]; {
		case word == "":
		case count[word] > 1:
			m.params[i] = taken.numbered(word, 1)
		default:
			m.params[i] = taken.pick(word)
		}
	}
}

// needed returns the names that the body cannot do without: nil, and those of results whose zero value must be a literal.
func (m *method) needed() scope {
	if !m.limited() {
		return scope{}
	}
	names := scope{"nil": true}
	for v := range m.sig.Results().Variables() {
		if holdsLock(v.Type()) {
			names = union(names, m.mentioned(v.Type()))
		}
	}
	return names
}

// nameLocals names the variables of the body, so that they hide nothing that it mentions.
func (m *method) nameLocals(avoid scope) {
	if !m.limited() {
		return
	}
	hiding := scope{m.decorator.receiver: true}
	hiding.add(m.params...)
	taken := union(avoid, hiding, m.mentionedResults())
	m.err = taken.pick("err", "limitErr", "refused")
	m.zeros = m.zeroValues(hiding, taken)
}

func (m *method) render(code *jen.File) {
	write(code, m.words())
	d := m.decorator
	params := d.printer.paramList
	if m.isWide() {
		params = d.printer.paramLines
	}
	code.Func().Params(d.receiverParam()).Id(m.name).Add(params(m.sig, m.params), m.resultList()).
		BlockFunc(func(g *jen.Group) {
			if m.limited() {
				g.Add(m.check())
			}
			call := jen.Id(d.receiver).Dot(d.next).Dot(m.name).Call(m.args()...)
			if m.sig.Results().Len() > 0 {
				call = jen.Return(call)
			}
			g.Add(call)
		})
}

// isWide reports whether the method's signature is too wide for one line, or has a parameter that is tall.
func (m *method) isWide() bool {
	d := m.decorator
	vars := m.sig.Params()
	params := make([]string, vars.Len())
	width := 0
	for i, name := range m.params {
		if isTall(vars.At(i).Type()) {
			return true
		}
		params[i] = name
		if !d.printer.sharesType(vars, m.params, m.sig.Variadic(), i) {
			params[i] += " " + types.TypeString(vars.At(i).Type(), d.qualifier)
			width += d.lengths.spelledWidth(vars.At(i).Type())
		}
	}
	for v := range m.sig.Results().Variables() {
		width += d.lengths.spelledWidth(v.Type())
	}
	results := types.TypeString(m.sig.Results(), d.qualifier)
	if m.sig.Results().Len() < 2 {
		results = strings.Trim(results, "()")
	}
	text := fmt.Sprintf("func (%s *%s) %s(%s) %s {", d.receiver, d.name+d.typeArgs(), m.name, strings.Join(params, ", "), results)
	return len(text)+width > lineWidth
}

// args are the parameters as arguments.
func (m *method) args() []jen.Code {
	return mapEach(len(m.params), func(i int) jen.Code {
		arg := jen.Id(m.params[i])
		if m.sig.Variadic() && i == len(m.params)-1 {
			arg.Op("...")
		}
		return arg
	})
}

// check is the question to the guard and what becomes of a refused call.
func (m *method) check() *jen.Statement {
	asked := jen.Id(m.decorator.receiver).Dot(m.guard).Dot("Allow").Call(m.contextArg())
	return jen.If(jen.Id(m.err).Op(":=").Add(asked), jen.Id(m.err).Op("!=").Nil()).BlockFunc(func(g *jen.Group) {
		if m.shape != returnsError {
			g.Qual(httplimitPath, "WriteError").Call(jen.Id(m.params[0]), jen.Id(m.params[1]), jen.Id(m.err))
		}
		if m.shape == answers {
			g.Return()
			return
		}
		values := []jen.Code{}
		for _, z := range m.zeros {
			if z.declared != nil {
				g.Add(z.declared)
			}
			values = append(values, z.value)
		}
		g.Return(append(values, jen.Id(m.err))...)
	})
}

func (m *method) contextArg() *jen.Statement {
	if m.context.param < 0 {
		return jen.Qual("context", "Background").Call()
	}
	arg := jen.Id(m.params[m.context.param])
	if m.context.call {
		arg.Dot("Context").Call()
	}
	return arg
}
