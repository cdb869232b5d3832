package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// project is a module with annotated interfaces.
type project struct {
	name      string
	annotated []string          // folders of packages with an interface Users, in users.go
	files     map[string]string // by path
	require   string            // a module with its version, "" for none
}

const modulePath = "example.com/project"

func projects() []*project {
	small := &project{name: "small", annotated: []string{"."}, files: map[string]string{"users.go": usersFile("users", nil, nil)}}
	grpc := &project{name: "gRPC", annotated: []string{"."}, require: "google.golang.org/grpc v1.85.0", files: map[string]string{
		"users.go": usersFile("users", []string{"net/http", "google.golang.org/grpc"}, []string{
			"Connect(ctx context.Context, opts ...grpc.DialOption) (*grpc.ClientConn, error)",
			"Serve(w http.ResponseWriter, r *http.Request)",
		}),
	}}
	return []*project{small, grpc, large()}
}

// large returns a project of 300 packages with five files each, every one of which imports the two packages before it. Three
// of them have annotated interfaces.
func large() *project {
	p := &project{name: "300 packages", files: map[string]string{}}
	for i := range 300 {
		dir := fmt.Sprintf("p%03d", i)
		for j := range 5 {
			p.files[fmt.Sprintf("%s/file%d.go", dir, j)] = plainFile(i, j)
		}
		if i%100 == 50 {
			p.annotated = append(p.annotated, dir)
			p.files[dir+"/users.go"] = usersFile(dir, nil, nil)
		}
	}
	return p
}

// usersFile returns a file with an interface of ten methods and more.
func usersFile(pkg string, imports, methods []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "package %s\n\nimport (\n\t\"context\"\n\t\"time\"\n", pkg)
	for _, path := range imports {
		fmt.Fprintf(&text, "\t%q\n", path)
	}
	text.WriteString(")\n\ntype User struct {\n\tID   string\n\tBorn time.Time\n}\n\n//ratelimit:count=5 time=1m\ntype Users interface {\n")
	for i := range 10 {
		fmt.Fprintf(&text, "\tFind%d(ctx context.Context, id string, since time.Time, limit int) ([]*User, error)\n", i)
	}
	for _, method := range methods {
		fmt.Fprintf(&text, "\t%s\n", method)
	}
	text.WriteString("}\n")
	return text.String()
}

// plainFile returns a file with twenty functions of package i that call those of the packages before it.
func plainFile(i, j int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "package p%03d\n\nimport (\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"net/http\"\n", i)
	for before := max(0, i-2); before < i; before++ {
		fmt.Fprintf(&text, "\t%q\n", fmt.Sprintf("%s/p%03d", modulePath, before))
	}
	text.WriteString(")\n\n")
	for k := range 20 {
		sum := "0"
		for before := max(0, i-2); before < i; before++ {
			sum += fmt.Sprintf(" + p%03d.Len%d_%d(r)", before, j, k)
		}
		fmt.Fprintf(&text, "func Len%[1]d_%[2]d(r *http.Request) int {\n\ttext, err := json.Marshal(fmt.Sprint(r.URL, %[2]d))\n"+
			"\tif err != nil {\n\t\treturn 0\n\t}\n\tif len(text) > %[1]d {\n\t\treturn len(text)\n\t}\n\treturn %[3]s\n}\n\n", j, k, sum)
	}
	return text.String()
}

// write writes the project, as the commands need it.
func (b *bench) write(ctx context.Context, p *project) error {
	dir := filepath.Join(b.dir, p.name)
	p.files["go.mod"] = fmt.Sprintf("module %s\n\ngo 1.26\n", modulePath)
	if p.require != "" {
		p.files["go.mod"] += "\nrequire " + p.require + "\n"
	}
	p.files[mockeryConfig] = p.mockery()
	for path, text := range p.files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	if err := goCommand(ctx, dir, nil, "mod", "tidy"); err != nil {
		return err
	}
	return goCommand(ctx, dir, nil, "build", "./...")
}

// mockery returns the configuration file that mockery wants.
func (p *project) mockery() string {
	var text strings.Builder
	text.WriteString("all: false\nlog-level: error\ntemplate: testify\ndir: '{{.InterfaceDir}}'\n" +
		"filename: users_mockery.go\npkgname: '{{.SrcPackageName}}'\npackages:\n")
	for _, dir := range p.annotated {
		path := modulePath
		if dir != "." {
			path += "/" + dir
		}
		fmt.Fprintf(&text, "  %s:\n    interfaces:\n      Users: {}\n", path)
	}
	return text.String()
}
