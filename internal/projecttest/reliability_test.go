package projecttest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	promiseLink = regexp.MustCompile(`\[(Test\w+)\]\(\.\./([^)]+)\)`)
	testFunc    = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	runFlag     = regexp.MustCompile(`-run='([^']+)' \./(\S+)`)
	kindRow     = regexp.MustCompile(`(?m)^\| ` + "`(\\w+)`" + ` \| [^|]+ \| (?:perhaps|no) \| (yes|no)\b`)
	kindConst   = regexp.MustCompile(`(Kind\w+) +Kind = "(\w+)"`)
	countedList = regexp.MustCompile(`(?s)func \(k Kind\) ofServer\(\) bool \{.*?case ([^:]+):`)
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testsIn returns the names of the tests in the files that a pattern matches, each with its file.
func testsIn(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: files %v, error %v", pattern, files, err)
	}
	tests := map[string]string{}
	for _, file := range files {
		file, err := filepath.Rel("../..", file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range testFunc.FindAllStringSubmatch(read(t, file), -1) {
			tests[match[1]] = filepath.ToSlash(file)
		}
	}
	return tests
}

// Each promise of docs/reliability.md names the tests that hold it, which exist, and no test of a fault is left out. Its
// commands run some of them.
func TestPromisesAreHeldByTests(t *testing.T) {
	doc := read(t, "docs/reliability.md")
	linked := map[string]bool{}
	for _, link := range promiseLink.FindAllStringSubmatch(doc, -1) {
		name, file := link[1], link[2]
		linked[name] = true
		if _, ok := testsIn(t, file)[name]; !ok {
			t.Errorf("docs/reliability.md says that %s holds a promise: it is not in %s", name, file)
		}
	}
	for _, pattern := range []string{"runtime/redislimit/fault_*_test.go", "runtime/httplimit/flood_test.go"} {
		for name, file := range testsIn(t, pattern) {
			if !linked[name] {
				t.Errorf("docs/reliability.md does not name %s of %s", name, file)
			}
		}
	}
	commands := runFlag.FindAllStringSubmatch(doc, -1)
	if len(commands) == 0 {
		t.Error("docs/reliability.md has no commands")
	}
	for _, command := range commands {
		tests := slices.Collect(maps.Keys(testsIn(t, command[2]+"/*_test.go")))
		for part := range strings.SplitSeq(command[1], "|") {
			if !slices.ContainsFunc(tests, func(name string) bool { return linked[name] && strings.Contains(name, part) }) {
				t.Errorf("docs/reliability.md runs %s in %s: no promise is held by such a test", part, command[2])
			}
		}
	}
}

// The table of the kinds of errors has them all, and says of each whether it takes a server off the path of calls.
func TestKindsOfErrorsAreDocumented(t *testing.T) {
	source := read(t, "runtime/redislimit/errors.go")
	counted := countedList.FindStringSubmatch(source)
	if counted == nil {
		t.Fatal("runtime/redislimit/errors.go does not say which kinds count")
	}
	want := map[string]string{}
	for _, kind := range kindConst.FindAllStringSubmatch(source, -1) {
		want[kind[2]] = "no"
		if slices.Contains(strings.Split(counted[1], ", "), kind[1]) {
			want[kind[2]] = "yes"
		}
	}
	got := map[string]string{}
	for _, row := range kindRow.FindAllStringSubmatch(read(t, "docs/reliability.md"), -1) {
		got[row[1]] = row[2]
	}
	if !maps.Equal(got, want) {
		t.Errorf("docs/reliability.md says which kinds count:\n got %v\nwant %v", got, want)
	}
}
