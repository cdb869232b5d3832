package generate

import (
	"go/types"
	"maps"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// method is the plan of one method of a decorator.
type method struct {
	*parse.Method
	decorator *decorator
	name      string
	sig       *types.Signature
	shape     shape
	exchange  exchange // what the first parameter is
	context   contextSource
	fallback  *fallback // nil if a call that is over a limit is refused
	guard     string    // the field of its guard, "" without a limit
	asks      asks
	uses      scope    // names that the code of its expressions mentions: predeclared ones, and the package's own
	packages  scope    // paths of packages that it mentions
	params    []string // never blank
	err       string   // the variable that holds a refusal
	limitErr  string   // the variable that holds it for the fallback
	ok        string   // the variable that says whether it is one
	ctx       string   // the variable that holds the context, where that may be missing
	request   string   // the variable that holds the request of a parameter which has another one during the call
	call      string   // the variable that holds what a call holds, see begins
	results   []string // the variables that hold results, where a refund depends on the call
	zeros     []zero   // of the results, the error excepted
	locals    scope    // what variables of its expressions must not be called
}

// method plans a method and reports limits that it cannot keep.
func (b *builder) method(d *decorator, m *parse.Method) *method {
	planned := b.planMethod(d, m)
	b.checkLimits(planned)
	b.lengths.readMethod(b.source.Package.Fset, m.Func)
	return planned
}

func (b *builder) planMethod(d *decorator, m *parse.Method) *method {
	sig := m.Func.Signature()
	planned := &method{
		Method:    m,
		decorator: d,
		name:      m.Func.Name(),
		sig:       sig,
		shape:     shapeOf(sig),
	}
	planned.exchange = firstExchange(sig)
	planned.context = contextOf(sig, planned.shape)
	planned.asks = b.asks(planned)
	planned.fallback = b.fallback(planned)
	return planned
}

func (m *method) limited() bool { return len(m.Limits) > 0 }

// begins reports whether a call may hold something until it ends: slots, or units that may be given back.
func (m *method) begins() bool { return m.leases() || m.refundable() }

// refundable reports whether what a call has taken may be given back.
func (m *method) refundable() bool { return len(m.asks.of("refund")) > 0 }

// leases reports whether a call holds slots.
func (m *method) leases() bool {
	return slices.ContainsFunc(m.Limits, func(l *parse.Limit) bool { return l.Algorithm == annotations.Concurrency })
}

// survey writes the code of the method's expressions once, to learn what it mentions and whether it can be written.
func (m *method) survey() {
	m.uses, m.packages = scope{}, scope{}
	if !m.limited() {
		return
	}
	p := m.decorator.newPrinter(nil)
	m.write(p, func(e *expression, problem string) {
		e.refuseFor(m.decorator.elsewhere(e.home, m.name), e.node.Pos(), problem)
	})
	if problem := m.fallback.problem(p); problem != "" {
		m.decorator.refuseFallbackFor(m.decorator.elsewhere(m.fallback.target.Pkg(), m.name), m.fallback.limit, problem)
	}
	m.uses = p.names
	for path := range p.packages {
		m.packages.add(path)
	}
	m.decorator.imports.need(p.packages)
	if m.fallback != nil {
		m.decorator.imports.packages["errors"] = "errors"
	}
}

// write writes the code of each of the method's expressions, and reports those for which it cannot.
func (m *method) write(p *printer, report func(e *expression, problem string)) {
	all := m.asks
	m.params = mapEach(m.sig.Params().Len(), func(int) string { return "param" })
	m.results = mapEach(m.sig.Results().Len(), func(int) string { return "result" })
	for i, a := range all {
		m.asks = all[i : i+1]
		m.question(p, scope{})
		m.refunds(p, scope{})
		if len(p.problems) > 0 {
			report(a.expression, p.problems[0])
			p.problems = nil
		}
	}
	m.asks, m.params, m.results = all, nil, nil
}

// variable returns the name of a parameter or of the variable of a result.
func (m *method) variable(v variable) string {
	switch {
	case !v.isResult:
		return m.params[v.index]
	case v.index == m.sig.Results().Len()-1 && isError(m.sig.Results().At(v.index).Type()):
		return m.err
	}
	return m.results[v.index]
}

// imports returns the paths of the packages that the method's body cannot do without.
func (m *method) imports() []string {
	paths := slices.Sorted(maps.Keys(m.packages))
	if slices.ContainsFunc(m.asks, func(a ask) bool { return a.attr != "refund" }) {
		paths = append(paths, runtimePath)
	}
	if m.limited() && (m.context.param < 0 || m.mayLackContext()) {
		paths = append(paths, "context")
	}
	if m.limited() && m.answers() {
		paths = append(paths, httplimitPath)
	}
	if m.fallback != nil && (m.canRefuse() || m.fallback.takesErr) {
		paths = append(paths, "errors", runtimePath)
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
	if !m.limited() && !slices.ContainsFunc(variables(m.sig.Params()), isUnnamed) {
		return // as there is nothing to do for nearly all methods of a large interface
	}
	taken, needed := union(avoid, m.userNames(), m.uses), m.needed()
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
	for i := range m.params {
		v := m.sig.Params().At(i)
		if !isUnnamed(v) {
			continue
		}
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

// needed returns the names that the body cannot do without: nil, those of results whose zero value must be a literal, and
// those that the expressions of limits mention.
func (m *method) needed() scope {
	if !m.limited() {
		return scope{}
	}
	names := union(scope{"nil": true}, m.uses)
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
	taken := union(avoid, hiding, m.mentionedResults(), m.uses)
	if m.mayLackContext() {
		m.ctx = taken.pick("ctx", "callCtx")
	}
	m.err = taken.pick("err", "limitErr", "refused")
	if m.fallback != nil && m.fallback.takesErr {
		m.limitErr = taken.pick("limitErr", "refusal")
		if m.canRefuse() {
			m.ok = taken.pick("ok")
		}
	}
	if m.begins() {
		m.call = taken.pick("call", "admitted")
	}
	if m.swapsRequest() {
		m.request = taken.pick("r", "req", "request")
	}
	if m.refundable() {
		m.nameResults(taken)
	}
	m.zeros = m.zeroValues(hiding, taken)
	m.locals = taken
}

// nameResults names the variables that hold the results of a call. An error that is last is held by the variable that
// held a refusal before.
func (m *method) nameResults(taken scope) {
	results := m.sig.Results()
	m.results = make([]string, results.Len())
	for i := range m.results {
		v := results.At(i)
		switch name := v.Name(); {
		case i == results.Len()-1 && isError(v.Type()):
			m.results[i] = m.err
		case isUnnamed(v):
			word := paramName(v.Type(), false)
			if !taken.free(word) {
				word = firstLetter(word)
			}
			m.results[i] = taken.pick(word)
		default:
			m.results[i] = taken.pick(name, name+"Result")
		}
	}
}

func (m *method) render(code *jen.File) {
	write(code, m.words())
	signature := m.signature(m.decorator.printer.paramList)
	if m.hasTallParam() || m.decorator.isWide(signature) {
		signature = m.signature(m.decorator.printer.paramLines)
	}
	code.Add(signature).Block(m.body()...)
}

// signature is the method's, with its parameters listed in one of two ways.
func (m *method) signature(params func(*types.Signature, []string) *jen.Statement) *jen.Statement {
	return jen.Func().Params(m.decorator.receiverParam()).Id(m.name).Add(params(m.sig, m.params), m.resultList())
}

func (m *method) hasTallParam() bool {
	return slices.ContainsFunc(variables(m.sig.Params()), func(v *types.Var) bool { return isTall(v.Type()) })
}
