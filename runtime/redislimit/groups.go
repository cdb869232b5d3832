package redislimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// undoTimeout is how long it may take to give back what a call took before it was refused: enough to connect anew, and
	// for a server that was off the path of calls for a moment to be asked again.
	undoTimeout = 2 * time.Second
	// undoGrace is how long a call waits for that though its time is over: some round trips, as what took so long was
	// another server.
	undoGrace = 10 * time.Millisecond
	// undoPause is between two attempts at it, of which those that find a server off the path of calls cost next to nothing.
	undoPause = 50 * time.Millisecond
	// maxScripts is how many scripts of a call run at the same time. It is enough for go-redis to notice that a server is
	// gone, which it does after as many failures as there are connections in its pool, by default ten a core.
	maxScripts = 64
)

// group is those charges of a call whose buckets live together, so that one script can decide them at one instant.
type group struct {
	at      []int // which of the call's charges they are
	charges []ratelimit.Charge
	results []ratelimit.Result // of Take and Peek
}

// split returns the groups of the charges, in the order in which they first occur, or nil if all buckets live together.
func (s *Store) split(charges []ratelimit.Charge) []group {
	if !s.sender.sharded() || s.together(charges) {
		return nil
	}
	var groups []group
	numbers := map[string]int{} // of the groups, by hash tag
	for i := range charges {
		tag := hashTag(s.key(&charges[i]))
		n, ok := numbers[tag]
		if !ok {
			n = len(groups)
			numbers[tag] = n
			groups = append(groups, group{})
		}
		g := &groups[n]
		g.at, g.charges = append(g.at, i), append(g.charges, charges[i])
	}
	for i := range groups {
		groups[i].results = make([]ratelimit.Result, len(groups[i].charges))
	}
	return groups
}

// together reports whether all buckets live on one server wherever that is decided by the hash tags of their keys.
func (s *Store) together(charges []ratelimit.Charge) bool {
	if len(charges) <= 1 {
		return true
	}
	first := hashTag(s.key(&charges[0]))
	for i := range charges[1:] {
		if hashTag(s.key(&charges[1+i])) != first {
			return false
		}
	}
	return true
}

// hashTag returns the part of a key that decides where it lives, see
// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags.
func hashTag(key string) string {
	if _, after, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(after, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}

// takeGroups charges the groups one after the other, until one refuses or errs. Those before it then get back what was
// taken, and all others answer as the limits of a refused call do.
func (s *Store) takeGroups(ctx context.Context, groups []group, results []ratelimit.Result) error {
	for i := range groups {
		g := &groups[i]
		_, err := s.decide(ctx, s.sender.now(), g.charges, g.results)
		if err == nil && !refused(g.results) {
			continue
		}
		if err := errors.Join(err, s.undo(ctx, groups[:i])); err != nil {
			return err
		}
		err = each(slices.Concat(groups[:i], groups[i+1:]), func(g *group) error {
			return s.refuse(ctx, g.charges, g.results)
		})
		if err != nil {
			return err
		}
		break
	}
	fill(results, groups)
	return nil
}

func refused(results []ratelimit.Result) bool {
	return slices.ContainsFunc(results, func(r ratelimit.Result) bool { return !r.Allowed })
}

// undo gives back what the groups took, even if the context has ended. When that is not done in time it goes on in the
// background.
func (s *Store) undo(ctx context.Context, groups []group) error {
	if len(groups) == 0 {
		return nil
	}
	var all []ratelimit.Charge
	back := make([]group, len(groups))
	for i, g := range groups {
		for j, c := range g.charges {
			c.Key = bytes.Clone(c.Key) // the caller's, and it may not wait
			c.Taken, c.Delay = g.results[j].At, g.results[j].Delay
			back[i].charges = append(back[i].charges, c)
		}
		all = append(all, back[i].charges...)
	}
	var failed error
	var panicked any
	undone := make(chan struct{}) // closed when they are set
	go func() {
		defer close(undone)
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), undoTimeout, noAnswerError(undoTimeout))
		defer cancel()
		panicked = caught(func() {
			failed = each(back, func(g *group) error {
				err := s.giveBackSoon(ctx, g.charges)
				if errors.Is(err, ratelimit.ErrLeaseLost) { // which is as good
					return nil
				}
				return err
			})
		})
	}()
	grace := time.After(undoGrace)
	select {
	case <-undone:
	case <-grace:
		select {
		case <-undone:
		case <-ctx.Done():
			late := ended(ctx)
			late.Err = fmt.Errorf("%w, and it goes on for up to %v", late.Err, undoTimeout)
			return s.wrap("refund", all, late)
		}
	}
	if panicked != nil {
		panic(panicked)
	}
	return failed
}

// giveBackSoon gives back, and waits for that until a server that is off the path of calls is on it again or the context
// ends: it was not asked, so it may be asked again.
func (s *Store) giveBackSoon(ctx context.Context, charges []ratelimit.Charge) error {
	for {
		err := s.giveBack(ctx, charges)
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != KindOutage || !pause(ctx, undoPause) {
			return err
		}
	}
}

func (s *Store) peekGroups(ctx context.Context, groups []group, results []ratelimit.Result) error {
	err := each(groups, func(g *group) error {
		return s.look(ctx, g.charges, g.results)
	})
	if err == nil {
		fill(results, groups)
	}
	return err
}

func (s *Store) renewGroups(ctx context.Context, groups []group, held []bool) error {
	return each(groups, func(g *group) error {
		answers := make([]bool, len(g.charges))
		err := s.renew(ctx, g.charges, answers)
		for i, at := range g.at {
			held[at] = answers[i]
		}
		return err
	})
}

// fill copies the results of the groups to where the call wants them.
func fill(results []ratelimit.Result, groups []group) {
	for _, g := range groups {
		for i, at := range g.at {
			results[at] = g.results[i]
		}
	}
}

// each does something with every group, at the same time: a server that is slow, or gone, does not hold up the others.
// Many leases are renewed at once.
func each(groups []group, do func(*group) error) error {
	errs := make([]error, len(groups))
	parallel(len(groups), maxScripts, func(i int) { errs[i] = do(&groups[i]) })
	return join(errs)
}

// join makes one error of many, and of those that say the same of different keys one of all these keys.
func join(errs []error) error {
	var different []error
	saying := map[string]*Error{}
	for _, err := range errs {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			different = append(different, err)
			continue
		}
		what := fmt.Sprintf("%s %s %v", e.Method, e.Kind, e.Err)
		if first, ok := saying[what]; ok {
			first.Keys = append(first.Keys, e.Keys...)
			continue
		}
		saying[what] = e
		different = append(different, e)
	}
	return errors.Join(different...)
}
