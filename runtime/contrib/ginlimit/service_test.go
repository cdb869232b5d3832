package ginlimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
)

// Pages has handlers of gin's, with and without an error.
type Pages interface {
	//ratelimit:key=page:{c.Param("name")} count=1 time=1h ip
	Page(c *gin.Context)
	//ratelimit:key=save count=1 time=1h by=user message="One a user, please."
	Save(c *gin.Context) error
}

// Items has handlers that need more than a line.
type Items interface {
	//ratelimit:key=item count=1 time=1h ip
	Item(c *gin.Context, id int64)
	//ratelimit:key=upload count=1 algorithm=concurrency
	Upload(c *gin.Context)
}

// Users is a service behind handlers.
type Users interface {
	//ratelimit:key=get count=1 time=1h ip
	Get(ctx context.Context, id string) (string, error)
	//ratelimit:key=load count=1 time=1h ip
	Load(c *gin.Context, id string) (string, error)
}

type pages struct{}

func (pages) Page(c *gin.Context)           { c.String(http.StatusOK, "page") }
func (pages) Item(c *gin.Context, id int64) { c.String(http.StatusOK, "item %d", id) }

func (pages) Save(c *gin.Context) error {
	c.String(http.StatusOK, "saved")
	return nil
}

func (pages) Upload(c *gin.Context) {
	status := http.StatusOK
	if c.Request.Context().Err() != nil {
		status = http.StatusInternalServerError
	}
	c.String(status, "uploaded")
}

type users struct{}

func (users) Get(_ context.Context, id string) (string, error) {
	if id == "0" {
		return "", errNobody
	}
	return fmt.Sprint("user ", id), nil
}

func (users) Load(_ *gin.Context, id string) (string, error) { return fmt.Sprint("user ", id), nil }

var errNobody = errors.New("no such user")
