// Package fixedwindow has a limit of another algorithm, with a rate and a period that is no whole unit.
package fixedwindow

import "context"

type Mailer interface {
	//ratelimit:key=mail rate=3/1m30s algorithm=fixed-window
	Send(ctx context.Context, to string) error
}
