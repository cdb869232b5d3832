package generate

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// builder is what the decorators of one file have in common.
type builder struct {
	source    *parse.File
	target    *parse.Package // where they go
	imports   *imports
	mistakes  *mistakes
	lengths   *lengths
	reexports *reexports
	returns   returns
}

func newBuilder(f *parse.File) *builder {
	b := &builder{
		source:    f,
		target:    f.Target(),
		mistakes:  newMistakes(f.Package.Fset),
		imports:   newImports(),
		lengths:   newLengths(),
		reexports: &reexports{},
		returns:   newReturns(f.Package),
	}
	if !f.Package.Sparse { // or else the nearest one may be missing
		b.reexports.from = []*types.Package{f.Target().Types, f.Package.Types}
	}
	return b
}

// hidden reports whether the target declares a predeclared name anew.
func (b *builder) hidden(name string) bool {
	_, ok := b.target.Names[name]
	return ok
}

// checkNames reports the names of the interface's decorator that are taken: by what the target declares, or by another
// decorator, since two letters may have one upper case and two packages an interface of one name.
func (b *builder) checkNames(iface *parse.Interface, decorator, constructor string) {
	position := func(pos token.Pos) token.Position { return b.source.Package.Fset.PositionFor(pos, false) }
	here := iface.Object.Pos()
	for _, name := range []string{decorator, constructor} {
		if pos, taken := b.source.Taken(name); taken {
			b.mistakes.add(here, fmt.Sprintf("%s: declared in %s: want another name there, this is the decorator's",
				name, position(pos)))
		}
	}
	for _, file := range b.target.Sources() {
		for _, other := range file.Interfaces {
			if name, _ := decoratorNames(other.Name); name == decorator && other != iface {
				b.mistakes.add(here, fmt.Sprintf("%s: also the decorator of %s in %s: want another name for one of the two",
					name, other.Name, position(other.Object.Pos())))
			}
		}
	}
}
