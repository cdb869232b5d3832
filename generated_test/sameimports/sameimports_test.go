package sameimports_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/sameimports"
	dated "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/2024-12-01/v1"
	apps "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/apps/v1"
	batch "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/batch/v1"
	core "github.com/ratelimitgen/ratelimitgen/generated_test/sameimports/core/v1"
)

type cluster struct{ limittest.Calls }

func (c *cluster) Get(id string) (core.Object, dated.Object, error) {
	c.Add("Get", id)
	return core.Object{Core: id}, dated.Object{Dated: id}, nil
}

func (c *cluster) Apply(d apps.Object, j batch.Object) (string, error) {
	c.Add("Apply", d, j)
	return d.Apps + j.Batch, nil
}

// U07
func TestCluster(t *testing.T) {
	var next cluster
	c := sameimports.NewRateLimitedCluster(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "sameimports.Cluster.Get", func() error {
		a, b, err := c.Get("x")
		if err == nil && (a.Core != "x" || b.Dated != "x") {
			t.Errorf("Get: got %v, %v", a, b)
		}
		return err
	})
	next.Want(t, 2, "Get", "x")
	limittest.Admits(t, 2, "sameimports.Cluster.Apply", func() error {
		got, err := c.Apply(apps.Object{Apps: "a"}, batch.Object{Batch: "b"})
		if err == nil && got != "ab" {
			t.Errorf("Apply: got %q", got)
		}
		return err
	})
	next.Want(t, 4, "Apply", apps.Object{Apps: "a"}, batch.Object{Batch: "b"})
}
