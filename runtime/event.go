package ratelimit

import (
	"fmt"
	"time"
)

// EventKind is what an [Event] is about. The zero value is none.
type EventKind uint8

const (
	// EventDecision is told when the limits that hold have decided a call, or one of them refused it for want of a part of
	// its key: then Outcomes has that one only. A call that waits is decided once.
	EventDecision EventKind = iota + 1
	// EventShadow is told when the limits that only look on have decided a call that goes on anyway.
	EventShadow
	// EventStoreError is told once of each call that the store could not decide, also when it is known to be away. It is not told
	// of a call whose own context ended first, which says nothing about the store.
	EventStoreError
	// EventTrouble is told of an error that changes nothing about a call: units or slots that could not be given back, and a
	// lease that was lost, which then matches [ErrLeaseLost].
	EventTrouble
	// EventOutage is told when the store, or a server of it, is taken off the path of calls, and when it is back, or is none of
	// the store's any more.
	EventOutage
	// EventOverrides is told when overrides were taken, or could not be: Err is an [*OverridesError] if something is wrong with
	// them, and otherwise says why their source could not be read.
	EventOverrides
)

var eventKinds = [...]string{
	EventDecision:   "decision",
	EventShadow:     "shadow",
	EventStoreError: "store error",
	EventTrouble:    "trouble",
	EventOutage:     "outage",
	EventOverrides:  "overrides",
}

// String returns the kind in words, e.g. "store error".
func (k EventKind) String() string {
	if k > 0 && int(k) < len(eventKinds) {
		return eventKinds[k]
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// Event is what an [Observer] is told. It is the Limiter's: it must not be changed, and not be kept, nor what it holds, once Observe
// has returned. Fields that are not of its Kind are zero.
type Event struct {
	Kind     EventKind
	Method   string        // that of the [Guard], e.g. "users.Service.Get"; empty for [Limiter.Allow], and for what is about no method
	Outcomes []Outcome     // of EventDecision and EventShadow: each limit of the call that was not skipped, those without a key first
	Took     time.Duration // of EventDecision and EventShadow: how long the stores took to decide; waits for a turn are not in it
	Local    bool          // of EventDecision and EventShadow: whether this process's memory decided, since the store could not
	Failure  Failure       // of EventStoreError: what became of the call; FailOpen if only limits that look on wanted to know
	Err      error         // of EventStoreError, EventTrouble; of EventOutage when Away, or if its server is not to come back; of EventOverrides that could not be taken
	Server   string        // of EventOutage: as the store names it; empty if it has one only
	Away     bool          // of EventOutage: whether it is taken off the path of calls, or no longer is
	Gone     bool          // of EventOverrides that were taken: whether their source, which said something, says nothing any more

	charges []Charge
	keyless int // how many of the Outcomes have no key
}

// Allowed reports whether none of the Outcomes is a refusal.
func (e *Event) Allowed() bool {
	for i := range e.Outcomes {
		if !e.Outcomes[i].Result.Allowed {
			return false
		}
	}
	return true
}

// Key returns the identity of the bucket of Outcomes[i], escaped: at most one bucket has it under the limit's name and
// algorithm. It is empty if a part of it was missing. It must not be changed, nor kept.
func (e *Event) Key(i int) []byte {
	if i -= e.keyless; i < 0 || i >= len(e.charges) {
		return nil
	}
	return e.charges[i].Key
}
