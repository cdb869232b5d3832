// Package echo5 has handlers of version 5 of echo. It is a module of its own, so that echo stays out of the root's go.mod.
package echo5

import (
	"context"

	"github.com/labstack/echo/v5"
)

type Pages interface {
	//ratelimit:key=page:{c.Param("name")} count=1 time=1h ip
	Page(c *echo.Context) error
	//ratelimit:key=upload count=1 algorithm=concurrency
	Upload(c *echo.Context) error
}

type Users interface {
	//ratelimit:key=get count=1 time=1h by=user
	Get(ctx context.Context, id string) (string, error)
	//ratelimit:key=load count=1 time=1h by=user
	Load(c *echo.Context, id string) (string, error)
}
