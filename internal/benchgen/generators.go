package main

// peers are the commands that ratelimitgen is compared with, as go install takes them.
var peers = []string{
	"github.com/matryer/moq@v0.8.1",
	"github.com/vektra/mockery/v3@v3.9.1",
	"github.com/maxbrunsfeld/counterfeiter/v6@v6.14.0",
	"go.uber.org/mock/mockgen@v0.6.0",
}

// generator is a way to generate code for the interface Users of each annotated package.
type generator struct {
	name     string
	output   string // what it writes in the folder of the package
	commands func(p *project) []invocation
}

// invocation is a command in a folder of a project.
type invocation struct {
	dir  string
	args []string
}

var generators = []generator{
	{"ratelimitgen", "users_ratelimit.go", inProject("ratelimitgen", "./...")},
	{"moq", "users_moq.go", inPackages("moq", "-out", "users_moq.go", ".", "Users")},
	{"mockery", "users_mockery.go", inProject("mockery", "--config", mockeryConfig)},
	{"counterfeiter", "users_fake.go", inPackages("counterfeiter", "-o", "users_fake.go", ".", "Users")},
	{"mockgen, source mode", "users_source.go", inPackages("mockgen", "-source=users.go", "-destination=users_source.go")},
	{"mockgen, package mode", "users_package.go", inPackages("mockgen", "-destination=users_package.go", ".", "Users")},
}

// inProject is one command for all packages.
func inProject(args ...string) func(*project) []invocation {
	return func(*project) []invocation { return []invocation{{".", args}} }
}

// inPackages is a command for each package.
func inPackages(args ...string) func(*project) []invocation {
	return func(p *project) []invocation {
		var all []invocation
		for _, dir := range p.annotated {
			all = append(all, invocation{dir, args})
		}
		return all
	}
}

const mockeryConfig = "mockery.yml"
