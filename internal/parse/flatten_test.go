package parse

import (
	"go/token"
	"go/types"
	"testing"
)

// Here there are 2^64 ways to the method.
func TestFlattenDiamonds(t *testing.T) {
	pkg := types.NewPackage("example.com/m", "m")
	method := types.NewFunc(token.NoPos, pkg, "Do", types.NewSignatureType(nil, nil, nil, nil, nil, false))
	iface := types.NewInterfaceType([]*types.Func{method}, nil)
	for range 64 {
		left := types.NewInterfaceType(nil, []types.Type{iface})
		right := types.NewInterfaceType(nil, []types.Type{iface})
		iface = types.NewInterfaceType(nil, []types.Type{left, right})
	}
	flat := newSource(token.NewFileSet(), nil, nil).flatten(iface.Complete())
	if len(flat.methods) != 1 || flat.methods[0] != method || len(flat.broken) > 0 {
		t.Errorf("flatten has %v, broken %v: want the one method", flat.methods, flat.broken)
	}
}
