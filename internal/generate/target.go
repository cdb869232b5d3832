package generate

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// Path returns the path of the file that holds the decorators of the file's interfaces, in the package that they go into.
func Path(f *parse.File) string {
	return Output(filepath.Join(f.Target().Dir, filepath.Base(f.Path)))
}

// isElsewhere reports whether the decorators go into another package than that of their interfaces.
func (b *builder) isElsewhere() bool { return b.target != b.source.Package }

// origin is the path of the source package if the decorators go into another one, or "".
func (b *builder) origin() string {
	if !b.isElsewhere() {
		return ""
	}
	return b.source.Package.Types.Path()
}

// wayOut ends the message about what the target cannot name.
const wayOut = "want what can be named there, or no -into"

// there says where decorators go if that is another package.
func (b *builder) there() string {
	if !b.isElsewhere() {
		return ""
	}
	return " in " + b.target.Types.Path()
}

// problem is the first thing that the code could not say, with the way out.
func (b *builder) problem(p *printer) string {
	switch problem := p.problems[0]; {
	case !b.isElsewhere() && strings.Contains(problem, ": want "):
		return problem
	case !b.isElsewhere():
		return problem + ": want what can be named here"
	case strings.Contains(problem, ": want "):
		return problem + ", or no -into"
	default:
		return problem + ": " + wayOut
	}
}

// checkReach reports an interface that the target cannot name, and whether it can. Nothing else is to be said then.
func (b *builder) checkReach(iface *parse.Interface) bool {
	if !b.isElsewhere() {
		return true
	}
	obstacle := b.newPrinter(nil).obstacle(iface.Object)
	if strings.HasSuffix(b.source.Path, "_test.go") {
		obstacle = filepath.Base(b.source.Path) + " is a test, which cannot be imported"
	}
	if obstacle == "" {
		return true
	}
	b.mistakes.add(iface.Object.Pos(), fmt.Sprintf("%s: no decorator%s can name it: %s: %s", iface.Name, b.there(), obstacle, wayOut))
	return false
}

// checkMethodReach reports a method that is private to the source package, and whether the target can have it. A decorator
// could embed the interface for it, but then calls that the source package makes would pass without a limit in silence.
func (b *builder) checkMethodReach(m *parse.Method) bool {
	if !b.isElsewhere() || m.Func.Exported() || m.Func.Pkg() != b.source.Package.Types {
		return true
	}
	b.mistakes.add(m.Func.Pos(), fmt.Sprintf("%s: no decorator%s can have it: it is private to %s: want an exported method, or no -into",
		m.Func.Name(), b.there(), m.Func.Pkg().Path()))
	return false
}
