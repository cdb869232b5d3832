package echolimit_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Pages has handlers of echo's.
type Pages interface {
	//ratelimit:key=page:{c.Param("name")} count=1 time=1h ip
	Page(c echo.Context) error
	//ratelimit:key=save count=1 time=1h by=user message="One a user, please."
	Save(c echo.Context) error
}

// Items has handlers that need more than a line.
type Items interface {
	//ratelimit:key=item count=1 time=1h ip
	Item(c echo.Context, id int64) error
	//ratelimit:key=upload count=1 algorithm=concurrency
	Upload(c echo.Context) error
}

// Users is a service behind handlers.
type Users interface {
	//ratelimit:key=get count=1 time=1h ip
	Get(ctx context.Context, id string) (string, error)
	//ratelimit:key=load count=1 time=1h ip
	Load(c echo.Context, id string) (string, error)
}

type pages struct{}

func (pages) Page(c echo.Context) error { return c.String(http.StatusOK, "page") }
func (pages) Save(c echo.Context) error { return c.String(http.StatusOK, "saved") }
func (pages) Item(c echo.Context, id int64) error {
	return c.String(http.StatusOK, fmt.Sprint("item ", id))
}

func (pages) Upload(c echo.Context) error {
	if err := c.Request().Context().Err(); err != nil {
		return err
	}
	return c.String(http.StatusOK, "uploaded")
}

type users struct{}

func (users) Get(_ context.Context, id string) (string, error) {
	if id == "0" {
		return "", echo.NewHTTPError(http.StatusNotFound, "no such user")
	}
	return fmt.Sprint("user ", id), nil
}

func (users) Load(_ echo.Context, id string) (string, error) { return fmt.Sprint("user ", id), nil }
