package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	processes = 3
	users     = 24
	meanPause = 100 * time.Millisecond // between the calls of a user to a process: together 30 a second, of which 12 are allowed
)

func userName(user int) string { return fmt.Sprintf("user-%d", user+1) }

// call is a call of a user to a process, as the caller saw it.
type call struct {
	user, process  int
	sent, answered time.Duration // since the load began
	outcome        outcome
	local          bool // whether the process decided by itself
	err            error
}

// decided reports whether the call was allowed or refused.
func (c *call) decided() bool { return c.outcome == admitted || c.outcome == refused }

type outcome int

const (
	failed outcome = iota // no answer, or none that a limited service gives; see err
	admitted
	refused
	undecided
)

// load has each user call each process, until ctx ends, and tells the report what came of it.
func load(ctx context.Context, c *crew, services []*service, r *report) {
	client := &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: users},
		Timeout:   2 * requestTimeout,
	}
	for user := range users {
		for process, s := range services {
			c.Go(func() {
				for {
					pause := time.NewTimer(rand.N(2 * meanPause)) //nolint:gosec // nobody gains by guessing it
					select {
					case <-ctx.Done():
						return
					case <-pause.C:
					}
					c := call{user: user, process: process, sent: r.now()}
					// What has been sent is waited for, since it is charged.
					c.outcome, c.local, c.err = place(context.WithoutCancel(ctx), client, s.url, userName(user))
					c.answered = r.now()
					r.record(c)
				}
			})
		}
	}
}

// place places an order.
func place(ctx context.Context, client *http.Client, url, user string) (o outcome, local bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/orders/book", http.NoBody)
	if err != nil {
		return failed, false, err
	}
	req.Header.Set(userHeader, user)
	resp, err := client.Do(req)
	if err != nil {
		return failed, false, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return failed, false, err
	}
	local = resp.Header.Get(deciderHeader) == byProcess
	switch resp.StatusCode {
	case http.StatusOK:
		return admitted, local, nil
	case http.StatusTooManyRequests:
		return refused, local, nil
	case http.StatusServiceUnavailable:
		return undecided, local, nil
	}
	return failed, local, fmt.Errorf("%s %s: %s", req.Method, req.URL, resp.Status)
}
