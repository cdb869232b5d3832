package projecttest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// report is a row of docs/reports.md.
type report struct {
	files []string // where it is replayed, from the root; none if it cannot apply
}

var (
	reportID   = regexp.MustCompile(`\b[RCSUHPD]\d\d\b`)
	reportLine = regexp.MustCompile(`^\| [RCSUHPD]`)
	reportRow  = regexp.MustCompile(`^\| ([RCSUHPD]\d\d) \| [^|]+ \| \[([\w.-]+/[\w.-]+)#(\d+)\]\(https://github.com/([^)]+)\) \| ([^|]+) \|$`)
	reportLink = regexp.MustCompile(`\[([^]]+)\]\(\.\./([^)]+)\)`)
)

// The list of the reports of other limiters' faults names the tests that replay them, and misses none.
func TestReports(t *testing.T) {
	reports := readReports(t)
	mentions := map[string]map[string]bool{} // files by id
	for file, ids := range commentedIDs(t) {
		for _, id := range ids {
			if _, ok := reports[id]; !ok {
				t.Errorf("%s mentions %s, which docs/reports.md does not list", file, id)
			}
			if mentions[id] == nil {
				mentions[id] = map[string]bool{}
			}
			mentions[id][file] = true
		}
	}
	for group, n := range map[string]int{"R": 46, "C": 16, "S": 22, "U": 9, "H": 18, "P": 10, "D": 8} {
		for i := range n {
			id := fmt.Sprintf("%s%02d", group, i+1)
			r, ok := reports[id]
			if !ok {
				t.Errorf("docs/reports.md does not list %s", id)
			}
			for _, file := range r.files {
				if !mentions[id][file] {
					t.Errorf("docs/reports.md says that %s is replayed in %s: no comment there says so", id, file)
				}
			}
			if len(r.files) == 0 && len(mentions[id]) > 0 {
				t.Errorf("docs/reports.md says that %s cannot apply: %v mention it", id, mentions[id])
			}
		}
	}
}

func readReports(t *testing.T) map[string]report {
	t.Helper()
	text, err := os.ReadFile("../../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	reports := map[string]report{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if !reportLine.MatchString(line) {
			continue
		}
		row := reportRow.FindStringSubmatch(line)
		if row == nil {
			t.Errorf("not a row of docs/reports.md: %s", line)
			continue
		}
		id, where := row[1], row[5]
		if want := row[2] + "/issues/" + row[3]; row[4] != want {
			t.Errorf("%s: the link leads to %s, want %s", id, row[4], want)
		}
		var r report
		for _, link := range reportLink.FindAllStringSubmatch(where, -1) {
			if filepath.Base(link[2]) != link[1] {
				t.Errorf("%s: %s leads to %s", id, link[1], link[2])
			}
			r.files = append(r.files, link[2])
		}
		if len(r.files) == 0 && !strings.HasPrefix(where, "cannot apply: ") {
			t.Errorf("%s: want the tests that replay it, or why it cannot apply: %s", id, where)
		}
		if _, twice := reports[id]; twice {
			t.Errorf("%s is listed twice", id)
		}
		reports[id] = r
	}
	return reports
}

// commentedIDs returns the ids that the comments of each test, of the suite, and at the head of each archive mention.
func commentedIDs(t *testing.T) map[string][]string {
	t.Helper()
	const root = "../.."
	ids := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		isArchive := filepath.Ext(file) == ".txtar"
		if entry.IsDir() || !isArchive && !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "runtime/ratelimittest/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if isArchive {
			ids[file] = reportID.FindAllString(string(txtar.Parse(text).Comment), -1)
			return nil
		}
		for line := range strings.Lines(string(text)) {
			if _, comment, ok := strings.Cut(line, "//"); ok {
				ids[file] = append(ids[file], reportID.FindAllString(comment, -1)...)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
