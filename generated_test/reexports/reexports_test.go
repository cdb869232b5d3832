package reexports

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/reexports/sdk"
	"github.com/ratelimitgen/ratelimitgen/generated_test/reexports/sdk/option"
)

type client struct{ limittest.Calls }

func (c *client) Start(_ context.Context, options sdk.Options, retry ...*option.Retry) (sdk.Run, error) {
	c.Add("Start", options, len(retry))
	return nil, nil
}

func (c *client) List(context.Context) (sdk.Page[string, sdk.Run], []sdk.Flags, error) {
	return sdk.Page[string, sdk.Run]{Items: map[string]sdk.Run{"a": nil}}, nil, nil
}

func (*client) Options() sdk.Options { return sdk.Options{Queue: "q"} }

func TestTypesOfInternalPackagesHaveTheirPublicNames(t *testing.T) {
	var next client
	var c sdk.Client = NewRateLimitedClient(&next, limittest.Limiter(t))
	limittest.Admits(t, 1, "reexports.Client.Start", func() error {
		_, err := c.Start(t.Context(), c.Options(), &option.Retry{})
		return err
	})
	limittest.Admits(t, 1, "reexports.Client.List", func() error {
		page, _, err := c.List(t.Context())
		if (err == nil) != (len(page.Items) == 1) {
			t.Errorf("got %v, %v", page, err)
		}
		return err
	})
}
