package parse

import (
	"go/ast"
	"go/token"
)

// reachable returns the syntax of a package's files with what other packages can come to see: the exported declarations,
// methods included, and all that these mention. Most of a package is nothing of that, nor are many of its imports. A name
// counts as mentioned whatever it means, so that rather too much is left than too little.
func reachable(files []*ast.File) []*ast.File {
	r := &reach{decls: make(map[string][]ast.Node), methods: make(map[string][]*ast.FuncDecl), kept: make(map[ast.Node]bool)}
	for _, file := range files {
		for _, decl := range file.Decls {
			r.index(decl)
		}
	}
	for name, methods := range r.methods {
		if t := r.aliased(name); t != name {
			r.methods[t] = append(r.methods[t], methods...)
		}
	}
	for name := range r.decls {
		if token.IsExported(name) {
			r.keep(name)
		}
	}
	pruned := make([]*ast.File, len(files))
	for i, file := range files {
		without := *file
		without.Decls = nil
		for _, decl := range file.Decls {
			if left := r.left(decl); left != nil {
				without.Decls = append(without.Decls, left)
			}
		}
		pruned[i] = &without
	}
	return pruned
}

// reach is what can be seen of a package.
type reach struct {
	decls   map[string][]ast.Node      // by declared name; constants are declared together, by their values
	methods map[string][]*ast.FuncDecl // by the name of their type
	kept    map[ast.Node]bool
}

func (r *reach) index(decl ast.Decl) {
	add := func(name *ast.Ident, node ast.Node) { r.decls[name.Name] = append(r.decls[name.Name], node) }
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			add(decl.Name, decl)
		} else if name := receiverName(decl); name != "" {
			r.methods[name] = append(r.methods[name], decl)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name, spec)
			case *ast.ValueSpec:
				var node ast.Node = spec
				if decl.Tok == token.CONST {
					node = decl
				}
				for _, name := range spec.Names {
					add(name, node)
				}
			}
		}
	}
}

// receiverName returns the name of the type that a method belongs to, "" if it has none.
func receiverName(method *ast.FuncDecl) string {
	if len(method.Recv.List) == 0 {
		return ""
	}
	for t := ast.Unparen(method.Recv.List[0].Type); ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = ast.Unparen(x.X)
		case *ast.IndexExpr:
			t = ast.Unparen(x.X)
		case *ast.IndexListExpr:
			t = ast.Unparen(x.X)
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// aliased returns the type of the package that an alias stands for: it may be the receiver of methods.
func (r *reach) aliased(name string) string {
	for range len(r.decls) { // aliases that name each other have no end
		if len(r.decls[name]) != 1 {
			break
		}
		spec, ok := r.decls[name][0].(*ast.TypeSpec)
		if !ok || !spec.Assign.IsValid() {
			break
		}
		target, ok := ast.Unparen(spec.Type).(*ast.Ident)
		if !ok {
			break
		}
		name = target.Name
	}
	return name
}

// keep keeps what a name stands for, and all that this mentions.
func (r *reach) keep(name string) {
	for _, node := range r.decls[name] {
		if !r.kept[node] {
			r.kept[node] = true
			r.mention(node)
			if spec, ok := node.(*ast.TypeSpec); ok {
				for _, method := range r.methods[spec.Name.Name] {
					r.kept[method] = true
					r.mention(method)
				}
			}
		}
	}
}

func (r *reach) mention(node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			r.mention(n.X)
			return false
		case *ast.Ident:
			r.keep(n.Name)
		}
		return true
	})
}

// left returns what is kept of a declaration, nil if nothing is.
func (r *reach) left(decl ast.Decl) ast.Decl {
	group, ok := decl.(*ast.GenDecl)
	switch {
	case !ok || group.Tok == token.CONST:
		if !r.kept[decl] {
			return nil
		}
		return decl
	case group.Tok == token.IMPORT:
		return decl
	}
	without := *group
	without.Specs = nil
	for _, spec := range group.Specs {
		if r.kept[spec] {
			without.Specs = append(without.Specs, spec)
		}
	}
	if len(without.Specs) == 0 {
		return nil
	}
	return &without
}
