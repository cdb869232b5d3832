package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// An interface that embeds one with directives has limits, however it comes by the name: those who only read bytes must not
// take it for another one.
func TestInterfaceStaysUnlimited(t *testing.T) {
	for _, tt := range []struct {
		name, files string
		all         bool // packages are looked at
	}{
		{"a major version is called as one of the standard library", `
-- api/v2/s.go --
package v2

type Store interface {
	//ratelimit:count=1
	Get() error
}
-- q/q.go --
package q

import (
	"math/rand/v2"

	"example.com/m/api/v2"
)

var N = rand.Int()

type Q interface{ v2.Store }
`, false},
		{"a package is not called as its path ends", `
-- s/go-fs/s.go --
package fs

type Store interface {
	//ratelimit:count=1
	Get() error
}
-- q/q.go --
package q

import (
	"example.com/m/s/go-fs"
	_ "io/fs"
)

type Q interface{ fs.Store }
`, false},
		{"the external tests declare what a dot brings in", `
-- s/s.go --
package s

type Store interface {
	//ratelimit:count=1
	Get() error
}
-- q/q.go --
package q

import . "example.com/m/s"

type Q interface{ Store }
-- q/q_test.go --
package q_test

type Store interface{ Put() }
`, false},
		{"a function declares what a dot brings in", `
-- s/s.go --
package s

type Store interface {
	//ratelimit:count=1
	Get() error
}
-- q/q.go --
package q

import . "example.com/m/s"

type Q interface{ Store }

func f() {
	type Store interface{ Put() }
}
`, false},
		{"another build declares what a dot brings in", `
-- s/s.go --
package s

type Store interface {
	//ratelimit:count=1
	Get() error
}
-- q/q.go --
package q

import . "example.com/m/s"

type Q interface{ Store }
-- q/never.go --
//go:build never

package q

type Store interface{ Put() }
`, false},
		{"a required module is below ours, and brings in a package of ours", `
-- go.mod --
module example.com/m

go 1.26

require example.com/m/sub v0.0.0

replace example.com/m/sub => ./elsewhere
-- elsewhere/go.mod --
module example.com/m/sub

go 1.26

require example.com/m v0.0.0
-- elsewhere/sub.go --
package sub

import "example.com/m/s"

type Store = s.Store
-- s/s.go --
package s

type Store interface {
	//ratelimit:count=1
	Get() error
}
-- q/q.go --
package q

import "example.com/m/sub"

type Q interface{ sub.Store }
`, true},
		{"a replaced module is called as a folder of the standard library without a package", `
-- go.mod --
module example.com/m

go 1.26

require text v0.0.0

replace text => ./elsewhere
-- elsewhere/go.mod --
module text

go 1.26

require example.com/m v0.0.0
-- elsewhere/text.go --
package text

import "example.com/m/s"

type Store = s.Store
-- s/s.go --
package s

type Store interface {
	//ratelimit:count=1
	Get() error
}
-- q/q.go --
package q

import "text"

type Q interface{ text.Store }
`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
			for i := range 7 { // so that what matters is not most of it
				writeFile(t, filepath.Join(dir, fmt.Sprintf("z%d/z.go", i)), "package z\n")
			}
			for _, file := range txtar.Parse([]byte(tt.files)).Files {
				writeFile(t, filepath.Join(dir, file.Name), string(file.Data))
			}
			listed, err := List(Config{Dir: dir, Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			if listed.isPartial == tt.all {
				t.Errorf("all packages are listed: %t, want %t", !tt.all, tt.all)
			}
			pkgs, err := listed.Load()
			if got, want := dump(dir, pkgs, err), "\t\tinterface Q\n\t\t\tGet() error\n"; !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwant it to have\n%s", got, want)
			}
		})
	}
}
