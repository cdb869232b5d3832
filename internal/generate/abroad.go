package generate

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// Abroad returns why expressions and fallbacks of lines on the file's methods cannot be written in a package that
// embeds the interface, by the positions of the lines: who analyzes that package may have no source of this one.
func Abroad(f *parse.File) map[token.Position][]parse.Obstacle {
	b := newBuilder(f)
	here := f.Package.Types
	b.target = &parse.Package{Types: types.NewPackage(here.Path()+"/abroad", "abroad")}
	found := make(map[token.Position][]parse.Obstacle)
	for _, iface := range f.Interfaces {
		d := &decorator{builder: b, iface: &parse.Interface{Name: iface.Name, Object: iface.Object}} // its type parameters mean nothing there
		p := d.newPrinter(nil)
		for _, m := range iface.Methods {
			if m.Func.Pkg() != here {
				continue
			}
			note := func(l *parse.Limit, offset int, reason string) {
				pos, o := f.Package.Fset.PositionFor(l.Pos, false), parse.Obstacle{Offset: offset, Reason: reason}
				if !l.Default && !slices.Contains(found[pos], o) {
					found[pos] = append(found[pos], o)
				}
			}
			planned := b.planMethod(d, m)
			planned.write(p, func(e *expression, reason string) { note(e.limit, e.source.Offset, reason) })
			if reason := planned.fallback.problem(p); reason != "" {
				note(planned.fallback.limit, planned.fallback.limit.ValueOffset("fallback"), reason)
			}
		}
	}
	return found
}
