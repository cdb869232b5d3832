package main

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The program tells where its page is, the page is told figures and may change limits, unless it is that of another site whose
// name leads here (DNS rebinding), and an interrupt ends it all.
func TestExample(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, writer, "127.0.0.1:0", false) }()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, rest, _ := strings.Cut(line, " ")
	if want := "shows the limits of a shop under load. Interrupt to end.\n"; rest != want {
		t.Errorf("the program says %q, want the url and %q", line, want)
	}

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := bufio.NewScanner(resp.Body)
	for events.Scan() && events.Text() != "event: second" {
	}
	if err := events.Err(); err != nil {
		t.Fatal(err)
	}

	for host, want := range map[string]int{"": http.StatusNoContent, "localhost:1": http.StatusNoContent, "evil.example:18733": http.StatusForbidden} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, url+"mode", strings.NewReader(`"enforce"`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Host = host
		request.Header.Set("Origin", "http://"+cmp.Or(host, request.URL.Host))
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("a change by a page of %q is answered %d, want %d", host, resp.StatusCode, want)
		}
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Errorf("the program ends with %v", err)
	}
}
