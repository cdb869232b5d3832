package ratelimit

import "fmt"

// Mode says whether a limit holds. The zero value is [ModeEnforce]; of two modes the greater one is the more lenient. Its text is
// that of the directive: "enforce", "shadow" or "off".
type Mode uint8

const (
	// ModeEnforce refuses calls that are over the limit.
	ModeEnforce Mode = iota
	// ModeShadow lets all calls pass. Those that the other limits let pass are decided as if the limit held, and what
	// would have become of them is told to recorders, see [Outcome.Shadow]. Nobody waits for it, though a bucket that can
	// be charged in advance is.
	ModeShadow
	// ModeOff is as if the limit were not there.
	ModeOff
)

// String returns the mode as the directive spells it.
func (m Mode) String() string {
	switch m {
	case ModeEnforce:
		return "enforce"
	case ModeShadow:
		return "shadow"
	case ModeOff:
		return "off"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// MarshalText returns the mode as the directive spells it, or an error if it is none of the constants.
func (m Mode) MarshalText() ([]byte, error) {
	if m > ModeOff {
		return nil, fmt.Errorf("ratelimit: the mode is %v: want ModeEnforce, ModeShadow or ModeOff", m)
	}
	return []byte(m.String()), nil
}

// UnmarshalText sets the mode to what the directive spells so. After an error it is what it was.
func (m *Mode) UnmarshalText(text []byte) error {
	for known := ModeEnforce; known <= ModeOff; known++ {
		if string(text) == known.String() {
			*m = known
			return nil
		}
	}
	return fmt.Errorf("ratelimit: the mode is %q: want enforce, shadow or off", text)
}

// WithMode has no limit of the Limiter hold more strictly than m says: with [ModeShadow] no call is refused, and all are
// counted; with [ModeOff] the store is asked nothing. The default is [ModeEnforce], by which each limit has its own mode.
// [Overrides] may say otherwise while the program runs.
func WithMode(m Mode) Option {
	return optionFunc(func(l *Limiter) error {
		if m > ModeOff {
			return fmt.Errorf("ratelimit: WithMode(%v): want ModeEnforce, ModeShadow or ModeOff", m)
		}
		l.mode = m
		return nil
	})
}
