// Package list shows the limits of packages to people and to programs: as a table, JSON, YAML or Markdown.
package list

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// Limit is a limit of a method. What its directive does not set is zero, and left out of its JSON.
type Limit struct {
	ID        string   `json:"id"` // Method#Name
	Package   string   `json:"package"`
	Method    string   `json:"method"` // pkg.Interface.Method, its name to the runtime
	Name      string   `json:"name"`
	Key       string   `json:"key"`
	Per       []string `json:"per"`    // what tells its buckets apart: attributes of the caller, and {expressions}
	Shared    []string `json:"shared"` // IDs of the other limits that charge the same buckets
	Algorithm string   `json:"algorithm"`
	Count     int64    `json:"count"`
	Time      string   `json:"time"` // as written, with its unit; of concurrency the lease

	Burst          int64  `json:"burst,omitempty"`
	Refill         string `json:"refill,omitempty"`
	Cost           *int64 `json:"cost,omitempty"` // nil also if it is an expression
	CostExpression string `json:"costExpression,omitempty"`
	Skip           string `json:"skip,omitempty"`   // an expression
	Refund         string `json:"refund,omitempty"` // an expression
	Wait           string `json:"wait,omitempty"`
	Fallback       string `json:"fallback,omitempty"`
	Fail           string `json:"fail,omitempty"`
	Mode           string `json:"mode,omitempty"`
	OnEmpty        string `json:"onempty,omitempty"`
	Prefetch       int64  `json:"prefetch,omitempty"`
	Status         int    `json:"status,omitempty"`
	Message        string `json:"message,omitempty"`

	File string `json:"file"` // relative to the working directory, with slashes
	Line int    `json:"line"` // of the directive

	module  string
	buckets generate.Buckets
}

// Of returns the limits of packages in the order of their IDs, as seen from the working directory.
func Of(pkgs []*parse.Package, dir string) []Limit {
	limits := []Limit{} // an empty list in JSON, too
	for _, pkg := range pkgs {
		for _, f := range pkg.Files {
			for _, iface := range f.Interfaces {
				for _, m := range iface.Methods {
					for _, l := range m.Limits {
						limits = append(limits, newLimit(pkg, generate.MethodName(pkg.Types.Name(), iface.Name, m.Func.Name()), l, dir))
					}
				}
			}
		}
	}
	slices.SortFunc(limits, func(a, b Limit) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Package, b.Package), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	share(limits)
	return limits
}

func newLimit(pkg *parse.Package, method string, l *parse.Limit, dir string) Limit {
	limit := Limit{
		ID:        method + "#" + l.Name,
		Package:   pkg.Types.Path(),
		Method:    method,
		Name:      l.Name,
		Key:       generate.Key(l, method),
		Per:       per(l),
		Shared:    []string{},
		Algorithm: string(l.Algorithm),
		Count:     l.Count,
		Time:      l.PeriodText,
		Burst:     l.Burst,
		Wait:      generate.DurationText(l.Wait),
		Fallback:  l.Fallback,
		Fail:      l.Fail,
		Mode:      l.Mode,
		OnEmpty:   l.OnEmpty,
		Prefetch:  l.Prefetch,
		Status:    l.Status,
		Message:   l.Message,
		module:    pkg.Module,
		buckets:   generate.BucketsOf(l, method),
	}
	if l.Has("refill") {
		limit.Refill = string(l.Refill)
	}
	switch {
	case l.CostExpr != nil:
		limit.CostExpression = l.CostExpr.Text
	case l.Has("cost"):
		limit.Cost = &l.Cost
	}
	if l.Skip != nil {
		limit.Skip = l.Skip.Text
	}
	if l.Refund != nil {
		limit.Refund = l.Refund.Text
	}
	pos := pkg.Fset.PositionFor(l.Pos, false)
	limit.File, limit.Line = filepath.ToSlash(pos.Filename), pos.Line
	if file, err := filepath.Rel(dir, pos.Filename); err == nil {
		limit.File = filepath.ToSlash(file)
	}
	return limit
}

// per returns what tells the buckets of a limit apart, in the order of its key.
func per(l *parse.Limit) []string {
	names := []string{}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if l.Key != nil {
		for _, part := range l.Key.Parts {
			switch {
			case part.Caller != "":
				add(part.Caller)
			case part.Expr != nil:
				add("{" + part.Expr.Text + "}")
			}
		}
	}
	for _, name := range l.By {
		add(name)
	}
	return names
}

// share tells limits which others of the module charge the same buckets. Packages of one name may have limits of one ID.
func share(limits []Limit) {
	type buckets struct {
		module string
		generate.Buckets
	}
	users := map[buckets][]int{}
	for i, l := range limits {
		at := buckets{l.module, l.buckets}
		users[at] = append(users[at], i)
	}
	for _, same := range users {
		for _, i := range same {
			for _, j := range same {
				if i != j {
					limits[i].Shared = append(limits[i].Shared, limits[j].ID)
				}
			}
		}
	}
}
