package packagenames_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames"
	text "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/--/string"
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/api/v3"
	v1 "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/appsv1"
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/go-widget"
	state "github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/init"
	"github.com/ratelimitgen/ratelimitgen/generated_test/packagenames/yaml.v3"
)

type office struct{}

func (office) File(s state.State, _ *text.Text) (state.State, error) { return s, nil }
func (office) Deploy(d v1.Deployment) (v1.Deployment, error)         { return d, nil }

func (office) Draw(w widget.Widget, n yaml.Node, r api.Ref) (api.Ref, yaml.Node, widget.Widget, error) {
	return r, n, w, nil
}

// U07
func TestOffice(t *testing.T) {
	o := packagenames.NewRateLimitedOffice(office{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "packagenames.Office.File", func() error {
		got, err := o.File(state.State{Name: "a"}, nil)
		if (got.Name == "a") != (err == nil) {
			t.Errorf("got %v, %v", got, err)
		}
		return err
	})
	limittest.Admits(t, 2, "packagenames.Office.Deploy", func() error {
		got, err := o.Deploy(v1.Deployment{Name: "b"})
		if (got.Name == "b") != (err == nil) {
			t.Errorf("got %v, %v", got, err)
		}
		return err
	})
	limittest.Admits(t, 2, "packagenames.Office.Draw", func() error {
		ref, node, drawn, err := o.Draw(widget.Widget{Name: "c"}, yaml.Node{Name: "d"}, api.Ref{Name: "e"})
		if err == nil && (ref.Name != "e" || node.Name != "d" || drawn.Name != "c") {
			t.Errorf("got %v, %v, %v", ref, node, drawn)
		}
		return err
	})
}
