package redislimit

import (
	"cmp"
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// askAll asks, and sets the answer or the error of each. Its own error is that of all.
func (s *Store) askAll(ctx context.Context, srv *server, asks []*ask) error {
	switch {
	case s.sender.sharded():
		if groups := byTag(asks); len(groups) > 1 {
			return s.askApart(ctx, groups)
		}
	case len(asks) > 1 && srv.apart.Load():
		return s.askApart(ctx, oneByOne(asks))
	}
	reply, err := eval(ctx, s.sender.client, s.scripts.take, s.encodeBatch(asks))
	switch {
	case err == nil:
		return s.readBatch(reply, asks)
	case len(asks) == 1 || !ofOne(err):
		return err
	case isCrossSlot(err):
		srv.apart.Store(true)
	}
	return s.askApart(ctx, oneByOne(asks))
}

// askApart asks by a script a group, all in one exchange. What a server refuses of one ask of a group, and so of all, it is
// asked once more, by a script an ask.
func (s *Store) askApart(ctx context.Context, groups [][]*ask) error {
	all := make([]*evaluation, len(groups))
	for i, asks := range groups {
		all[i] = &evaluation{args: s.encodeBatch(asks)}
	}
	evalAll(ctx, s.sender.client, s.scripts.take, all)
	var again []*ask
	var failed error
	answered := false
	for i, e := range all {
		switch asks := groups[i]; {
		case e.err == nil:
			e.err = s.readBatch(e.reply, asks)
			answered = true
		case len(asks) > 1 && ofOne(e.err):
			again = append(again, asks...)
			continue
		case ofTime(e.err) && over(ctx):
			e.err = ended(ctx)
		default:
			e.err = faultOf(e.err)
		}
		failed = cmp.Or(failed, e.err)
		for _, a := range groups[i] {
			a.err = cmp.Or(e.err, a.err)
		}
	}
	if len(again) > 0 {
		err := s.askApart(ctx, oneByOne(again))
		answered, failed = answered || err == nil, cmp.Or(failed, err)
	}
	if answered {
		return nil
	}
	return failed
}

// ofOne reports whether an error is one by which a server has run nothing of a script, and which may be due to one of its
// keys: it has others elsewhere, or forbids one.
func ofOne(err error) bool { return isCrossSlot(err) || redis.IsPermissionError(err) }

// isCrossSlot reports whether a server of a Cluster says that keys live apart, to a client that does not seem to be one of
// a Cluster.
func isCrossSlot(err error) bool { return redis.HasErrorPrefix(err, "CROSSSLOT") }

// oneByOne returns groups of one ask each.
func oneByOne(asks []*ask) [][]*ask { return slices.Collect(slices.Chunk(asks, 1)) }

// byTag returns the asks in groups whose buckets live together, so that one script may have them.
func byTag(asks []*ask) [][]*ask {
	var groups [][]*ask
	numbers := make(map[string]int, len(asks)) // of the groups
	for _, a := range asks {
		tag := hashTag(a.keys[0])
		n, ok := numbers[tag]
		if !ok {
			n = len(groups)
			numbers[tag], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], a)
	}
	return groups
}

// told returns what the answers to a batch say about its server: nil if something was charged, a failure if that was not
// possible, or else errUnwritten.
func told(reply any) error {
	asks, _ := reply.([]*ask)
	if slices.ContainsFunc(asks, (*ask).charged) {
		return nil
	}
	for _, a := range asks {
		if a.err != nil {
			if e := faultOf(a.err); e.Kind.ofServer() || e.Kind == KindClusterDown {
				return e
			}
		}
	}
	return errUnwritten
}
