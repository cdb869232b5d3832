package parse

import (
	"path/filepath"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestMayBeImported(t *testing.T) {
	const head = "module example.com/m\n\ngo 1.26\n\n"
	cache := t.TempDir()
	for name, text := range map[string]string{
		"example.com/!loner/@v/v1.0.0.mod": "module example.com/Loner\n",
		"example.com/plugin/@v/v1.0.0.mod": "module example.com/plugin\n\nrequire example.com/m v0.1.0\n",
	} {
		writeFile(t, filepath.Join(cache, "cache/download", name), text)
	}
	for _, tt := range []struct {
		name, goMod string
		want        bool
	}{
		{"alone", head, false},
		{"beside others", head + "require example.com/Loner v1.0.0\n", false},
		{"required by another", head + "require (\n\texample.com/Loner v1.0.0\n\texample.com/plugin v1.0.0 // indirect\n)\n", true},
		{"nobody knows what another requires", head + "require example.com/plugin v1.1.0\n", true},
		{"replaced by nobody knows what", head + "require example.com/Loner v1.0.0\n\nreplace example.com/Loner => ../loner\n", true},
		{"not all modules are in the file", "module example.com/m\n\ngo 1.16\n", true},
	} {
		file, err := modfile.Parse("go.mod", []byte(tt.goMod), nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &mainModule{path: "example.com/m", file: file, env: goEnv{GOMODCACHE: cache}}
		if got := m.mayBeImported(); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
}
