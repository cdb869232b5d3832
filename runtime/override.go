package ratelimit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Overrides change what the directives say, while the program runs. They come from a source, see [Limiter.Watch], or from
// the program, see [Limiter.Override] and [OverrideBy]. The zero value changes nothing. Those that were given to a Limiter
// must not be changed any more.
//
// What was used of a limit stays used when the limit changes, and the change holds from the next call on: a call that has
// begun ends by what held then. Algorithm, key, cost and name are those of the directive, whatever overrides it.
//
// A bucket has one limit: Count, Period and Burst hold for all limits that share it, see [Rule.Key], as the last source has them
// whose entry for one of these counts and has any, or is empty. It is an error if one source says different values. Mode and
// Fail are each limit's own.
type Overrides struct {
	// Mode is that of the whole Limiter, in place of that of [WithMode]: no limit holds more strictly. Nil changes nothing.
	Mode *Mode `json:"mode,omitempty"`
	// Limits are by the ids of the limits, see [LimitID]. Ids that the Limiter has not are of other programs.
	Limits map[string]*Override `json:"limits,omitempty"`
}

// Override is what overrides one limit. A field with its zero value changes nothing. Its text is that of an entry in a file
// of overrides, as JSON.
type Override struct {
	Count  int64         // units per Period, or holders at once, 1 to 1,000,000,000; units taken in advance are never more
	Period time.Duration // as [Limit.Period]; in texts it is time, as the directive writes it: 10, "500ms", "1m30s", "7d"
	Burst  int64         // as [Limit.Burst]; of a limit without one, the capacity is the Count, overridden or not
	Mode   *Mode
	Fail   Failure

	// Callers are for some callers: the first that a caller matches goes before the fields above. They are at most 10,000, of
	// which at most 1,000 go by a network.
	Callers []CallerOverride
}

// CallerOverride is what overrides a limit for the callers that it names. A field with its zero value leaves what holds
// for all others. Where callers share a bucket, one with another Count or Burst is admitted as long as others have left that
// much of the bucket; of TokenBucket only with another Burst.
type CallerOverride struct {
	// By are attributes that the context has of the caller, all of them: the values of [WithCaller], by their names. That of
	// "ip" is an address or a network, e.g. "10.0.0.0/8"; an IPv6 client goes by the address of [WithClientIP], which
	// may be that of its network.
	By map[string]string

	// Count is for buckets that are the callers' own, if the Algorithm is TokenBucket: by that of one, the bucket is refilled for
	// all who share it. So the key of the limit must have all attributes of By, and of the entries before, and share its
	// buckets with no other. Of other algorithms it may be that of any caller.
	Count int64
	// Period is for buckets that are the callers' own, whatever the Algorithm: by that of one, what others have used would be over too
	// early. Of Concurrency it is a lease, which may be that of any caller.
	Period time.Duration
	Burst  int64
	Mode   *Mode
	Fail   Failure
}

// change is what an [Override] or a [CallerOverride] says about a limit, so that it can be compared.
type change struct {
	count  int64
	period time.Duration
	burst  int64
	mode   int // 0 for none, or one more than the Mode
	fail   Failure
}

func modeChange(m *Mode) int {
	if m == nil {
		return 0
	}
	return 1 + int(*m)
}

// asMode is the Mode of a change that has one.
func (c change) asMode() Mode { return Mode(c.mode - 1) } //nolint:gosec // it was one

func (o *Override) change() change {
	return change{o.Count, o.Period, o.Burst, modeChange(o.Mode), o.Fail}
}

func (o *CallerOverride) change() change {
	return change{o.Count, o.Period, o.Burst, modeChange(o.Mode), o.Fail}
}

// over returns c, and where that changes nothing, d.
func (c change) over(d change) change {
	if c.count == 0 {
		c.count = d.count
	}
	if c.period == 0 {
		c.period = d.period
	}
	if c.burst == 0 {
		c.burst = d.burst
	}
	if c.mode == 0 {
		c.mode = d.mode
	}
	if c.fail == "" {
		c.fail = d.fail
	}
	return c
}

// check returns what is wrong about the change, whatever the limit.
func (c change) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.count < 0 || c.count > maxCount {
		wrong("count is %d: want 1 to %d", c.count, maxCount)
	}
	if c.period != 0 && (c.period < minPeriod || c.period > maxPeriod) {
		wrong("time is %v: want %v to %v", c.period, minPeriod, maxPeriod)
	} else if c.period%time.Microsecond != 0 {
		wrong("time is %v: want whole microseconds", c.period)
	}
	if c.burst < 0 || c.burst > maxCount {
		wrong("burst is %d: want 1 to %d", c.burst, maxCount)
	}
	if c.mode > 1+int(ModeOff) {
		wrong("mode is %v: want enforce, shadow or off", c.asMode())
	}
	if c.fail != "" && !c.fail.valid() {
		wrong("fail is %q: want local, open or closed", string(c.fail))
	}
	return errors.Join(errs...)
}

// check returns all that is wrong about the overrides, whatever the limits, each with its place.
func (o *Overrides) check() error {
	var errs []error
	if err := (change{mode: modeChange(o.Mode)}).check(); err != nil {
		errs = append(errs, &OverridesError{fmt.Errorf("ratelimit: overrides: %w", err)})
	}
	for _, id := range slices.Sorted(maps.Keys(o.Limits)) {
		if !strings.Contains(id, "#") {
			errs = append(errs, inOverride(id, "", errors.New("want an id, such as users.Service.Get#1s")))
		}
		errs = append(errs, o.Limits[id].check(id))
	}
	return errors.Join(errs...)
}

const (
	// maxCallers is how many entries an override has: all are made ready before the first call goes on.
	maxCallers = 10_000
	// maxNetworks is how many of these are networks, which a call looks through one by one.
	maxNetworks = 1000
)

// check returns all that is wrong about the override, whatever the limit.
func (o *Override) check(id string) error {
	if o == nil {
		return nil
	}
	var errs []error
	if err := o.change().check(); err != nil {
		errs = append(errs, inOverride(id, "", err))
	}
	if err := checkNumber(o.Callers); err != nil {
		return errors.Join(append(errs, inOverride(id, "", err))...)
	}
	for i := range o.Callers {
		c := &o.Callers[i]
		if err := errors.Join(checkBy(c.By), c.change().check()); err != nil {
			errs = append(errs, inOverride(id, callersName(i), err))
		}
	}
	return errors.Join(errs...)
}

// checkNumber returns an error if there are too many entries.
func checkNumber(callers []CallerOverride) error {
	if n := len(callers); n > maxCallers {
		return fmt.Errorf("callers are %d: want at most %d, and OverrideBy for more", n, maxCallers)
	}
	networks := 0
	for i := range callers {
		if prefix, err := parseNetwork(callers[i].By["ip"]); err == nil && !prefix.IsSingleIP() {
			networks++
		}
	}
	if networks > maxNetworks {
		return fmt.Errorf("networks of callers are %d: want at most %d, and OverrideBy for more", networks, maxNetworks)
	}
	return nil
}

// inOverride says of which limit, and of which of its callers, an error is.
func inOverride(id, callers string, err error) error {
	if callers != "" {
		callers = ", " + callers
	}
	return &OverridesError{fmt.Errorf("ratelimit: override of %s%s: %w", id, callers, err)}
}

// callersName is what the i-th entry of Callers is called in errors.
func callersName(i int) string { return fmt.Sprintf("callers %d", i+1) }
