package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	perClient = 7 // calls, of which 5 are within the limit
	allowed   = 5
	// refill is when the first token comes back. Calls that took longer say nothing about a limit of five.
	refill = time.Second / allowed
	tries  = 5
)

// demo calls the server at base as two clients and returns an error unless each was limited to five calls.
func demo(ctx context.Context, out io.Writer, base string) error {
	fmt.Fprintf(out, "\nTestGet allows each client IP %d calls a second; each client makes %d:\n\n", allowed, perClient)
	for _, client := range []string{"203.0.113.7", "2001:db8:1:2::42"} {
		if err := burst(ctx, out, base, client); err != nil {
			return err
		}
	}

	fmt.Fprint(out, "StatusPage allows two calls a minute and answers the third by itself:\n\n")
	for range 3 {
		if _, err := get(ctx, out, base+"/status", "203.0.113.7"); err != nil {
			return err
		}
	}
	return nil
}

// burst makes a client's calls and checks how many were allowed. On a machine so slow that a token came back meanwhile
// it waits until the bucket is full and calls again.
func burst(ctx context.Context, out io.Writer, base, client string) error {
	for range tries {
		ok, refused := 0, 0
		start := time.Now()
		for i := range perClient {
			status, err := get(ctx, out, fmt.Sprintf("%s/test/%d", base, i+1), client)
			if err != nil {
				return err
			}
			switch status {
			case http.StatusOK:
				ok++
			case http.StatusTooManyRequests:
				refused++
			}
		}
		took := time.Since(start)
		fmt.Fprintf(out, "%-17s %d × 200, %d × 429\n\n", client, ok, refused)
		if ok == allowed && refused == perClient-allowed {
			return nil
		}
		if took < refill {
			return fmt.Errorf("client %s: %d calls allowed and %d refused in %v, want %d and %d", client, ok, refused, took, allowed, perClient-allowed)
		}
		fmt.Fprintf(out, "The calls took %v, in which tokens came back. Once more.\n\n", took.Round(time.Millisecond))
		time.Sleep(time.Second)
	}
	return fmt.Errorf("client %s: %d calls took longer than %v in each of %d tries", client, perClient, refill, tries)
}

// get calls a URL as the client of that address and prints one line.
func get(ctx context.Context, out io.Writer, url, client string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-Forwarded-For", client) // as the proxy in front would
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	line := fmt.Sprintf("%-17s GET %-8s %d  RateLimit: %s", client, req.URL.Path, resp.StatusCode, resp.Header.Get("RateLimit"))
	if after := resp.Header.Get("Retry-After"); after != "" {
		line += "  Retry-After: " + after
	}
	_, err = fmt.Fprintln(out, line)
	return resp.StatusCode, err
}
