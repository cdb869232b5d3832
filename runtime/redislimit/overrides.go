package redislimit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	overridesKey = "overrides" // behind the prefix
	modeField    = "mode"      // which no id is
	// overridesTimeout is how long reading or writing the hash may take: much longer than a decision, for which nobody waits
	// here.
	overridesTimeout = time.Second
)

// Overrides are the overrides that all processes share which use a Redis with one prefix: a [ratelimit.OverrideStore]. Get one
// by [Store.Overrides]. They are the hash <prefix>overrides, with the id of a limit as field and an entry of a file of overrides,
// as JSON, as value; the field mode has that of whole Limiters:
//
//	HSET rl:overrides users.Service.Get#1s '{"count":5,"time":"1m"}'
//	HSET rl:overrides mode shadow
//	HDEL rl:overrides users.Service.Get#1s
//
// It has no expiry. Whoever watches it asks for the whole hash twice a second, so that a change is seen within a second. The
// user needs +hgetall on the key, and whoever edits +hset and +hdel. Neither reading nor writing goes by what is known of a
// server that is off the path of calls, nor counts as a failure of it. Each takes a second at most. It is safe for
// concurrent use.
//
// In a Ring the overrides are what the hashes of all shards say, as a Ring looks elsewhere for a key whose shard is away. So all
// have to answer, or what was read last goes on; a field of which two say different things is an error. Set and SetMode write to
// the shard that has the field, or else where the key lives.
type Overrides struct {
	store *Store
	hash  hash
	turn  chan struct{} // one command at a time: what a server that hangs has not answered does not pile up

	mu     sync.Mutex
	fields map[string]string // that were read last
	read   *ratelimit.Overrides
	err    error
}

var _ ratelimit.OverrideStore = (*Overrides)(nil)

// Overrides returns the overrides that are kept beside the buckets of the Store.
func (s *Store) Overrides() *Overrides {
	o := &Overrides{store: s, hash: oneHash{s.sender.client}, turn: make(chan struct{}, 1)}
	if s.sender.hashes != nil {
		o.hash = s.sender.hashes
	}
	return o
}

// Load implements [ratelimit.OverrideSource]. The error is an [*Error], or a [*ratelimit.OverridesError] that says all that is
// wrong with the fields: then none of them is taken.
func (o *Overrides) Load(ctx context.Context) (*ratelimit.Overrides, error) {
	var fields map[string]string
	err := o.do(ctx, func(ctx context.Context) (err error) {
		fields, err = o.hash.read(ctx, o.key())
		return err
	})
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fields == nil || !maps.Equal(fields, o.fields) {
		o.fields = fields
		o.read, o.err = o.parse(fields)
	}
	return o.read, o.err
}

// Set implements [ratelimit.OverrideStore]. Its error is an [*Error], or that of an override that is none. Whether the limits
// that there are can have it, the processes that have them know, see [ratelimit.Limiter.CheckOverrides]: one that cannot keeps to
// what was there before, for all limits.
func (o *Overrides) Set(ctx context.Context, limit string, override *ratelimit.Override) error {
	if !strings.Contains(limit, "#") {
		return fmt.Errorf("redislimit: override of %q: want an id, such as users.Service.Get#1s", limit)
	}
	if override == nil {
		return o.write(ctx, limit, nil)
	}
	text, err := override.MarshalJSON()
	if err == nil {
		err = new(ratelimit.Override).UnmarshalJSON(text)
	}
	if err != nil {
		return fmt.Errorf("redislimit: override of %s: %w", limit, err)
	}
	return o.write(ctx, limit, text)
}

// SetMode implements [ratelimit.OverrideStore]. Its error is as that of Set.
func (o *Overrides) SetMode(ctx context.Context, m *ratelimit.Mode) error {
	if m == nil {
		return o.write(ctx, modeField, nil)
	}
	text, err := m.MarshalText()
	if err != nil {
		return err
	}
	return o.write(ctx, modeField, text)
}

// write sets a field, or with nil deletes it.
func (o *Overrides) write(ctx context.Context, field string, text []byte) error {
	return o.do(ctx, func(ctx context.Context) error { return o.hash.write(ctx, o.key(), field, text) })
}

func (o *Overrides) key() string { return o.store.prefix + overridesKey }

// parse reads the fields of the hash.
func (o *Overrides) parse(fields map[string]string) (*ratelimit.Overrides, error) {
	read := &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{}}
	var errs []error
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		var err error
		if field == modeField {
			read.Mode = new(ratelimit.Mode)
			err = read.Mode.UnmarshalText([]byte(fields[field]))
		} else {
			read.Limits[field] = &ratelimit.Override{}
			err = json.Unmarshal([]byte(fields[field]), read.Limits[field])
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("redislimit: %q, field %q: %w", o.key(), field, err))
		}
	}
	if errs != nil {
		return nil, &ratelimit.OverridesError{Err: errors.Join(errs...)}
	}
	return read, nil
}

// do has the client do something. What it goes on waiting for when the time is up ends in the background, and nothing else is sent
// until then.
func (o *Overrides) do(ctx context.Context, what func(context.Context) error) error {
	if err := o.store.sender.ready(); err != nil {
		return o.wrap(err)
	}
	if ctx.Err() != nil {
		return o.wrap(ended(ctx))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, overridesTimeout, noAnswerError(overridesTimeout))
	defer cancel()
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return o.wrap(ended(ctx))
	}
	var panicked any
	var err error
	done := make(chan struct{})
	go func() {
		defer func() { <-o.turn }()
		defer close(done)
		panicked = caught(func() { err = what(ctx) })
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return o.wrap(ended(ctx))
	}
	if panicked != nil {
		panic(panicked)
	}
	if err != nil && ctx.Err() != nil && ofTime(err) {
		err = ended(ctx)
	}
	return o.wrap(err)
}

// wrap says where an error comes from. That of the caller's context stays what it is.
func (o *Overrides) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case isOfOverrides(err):
		return err
	case errors.Is(err, ratelimit.ErrMisconfigured):
		return &Error{Method: "overrides", Keys: []string{o.key()}, Kind: KindMisconfigured, Err: err}
	}
	e := faultOf(err)
	return &Error{Method: "overrides", Keys: []string{o.key()}, Kind: e.Kind, Err: e.Err}
}

func isOfOverrides(err error) bool {
	_, ok := errors.AsType[*ratelimit.OverridesError](err)
	return ok
}
