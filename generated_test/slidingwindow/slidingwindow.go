// Package slidingwindow has a limit that weighs two windows.
package slidingwindow

import "context"

type Search interface {
	//ratelimit:key=search rate=4/10s algorithm=sliding-window
	Find(ctx context.Context, text string) error
}
