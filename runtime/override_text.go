package ratelimit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// fields are what an entry may say, in the order in which it is written.
const fields = "count, time, burst, mode or fail"

// MarshalJSON returns the override as an entry in a file of overrides. The error is that of a Period that cannot be written:
// one that is not of whole milliseconds, or not 1ms to 366d.
func (o Override) MarshalJSON() ([]byte, error) {
	object, err := o.change().appendText([]byte{'{'})
	if err != nil {
		return nil, err
	}
	if len(o.Callers) > 0 {
		callers, err := json.Marshal(o.Callers)
		if err != nil {
			return nil, err
		}
		object = append(appendName(object, "callers"), callers...)
	}
	return append(object, '}'), nil
}

// MarshalJSON is that of [Override].
func (o CallerOverride) MarshalJSON() ([]byte, error) {
	by, err := json.Marshal(o.By)
	if err != nil {
		return nil, err
	}
	object, err := o.change().appendText(append([]byte(`{"by":`), by...))
	return append(object, '}'), err
}

// appendName appends the name of a member to an object that is not closed.
func appendName(object []byte, name string) []byte {
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	return append(strconv.AppendQuote(object, name), ':')
}

// appendText appends the members for a change to an object.
func (c change) appendText(object []byte) ([]byte, error) {
	if c.count != 0 {
		object = strconv.AppendInt(appendName(object, "count"), c.count, 10)
	}
	if c.period != 0 {
		if c.period%time.Millisecond != 0 || c.period < minPeriod || c.period > maxTextPeriod {
			return nil, fmt.Errorf("time is %v: want whole milliseconds, 1ms to 366d, to write it", c.period)
		}
		object = strconv.AppendQuote(appendName(object, "time"), periodText(c.period))
	}
	if c.burst != 0 {
		object = strconv.AppendInt(appendName(object, "burst"), c.burst, 10)
	}
	if c.mode != 0 {
		object = strconv.AppendQuote(appendName(object, "mode"), c.asMode().String())
	}
	if c.fail != "" {
		object = strconv.AppendQuote(appendName(object, "fail"), string(c.fail))
	}
	return object, nil
}

// UnmarshalJSON reads an entry of a file of overrides, {"count":5,"time":"1m","callers":[{"by":{"user":"ann"},"count":50}]}.
// What is not known, or said twice, is an error, and so is a value that no limit can have. All errors are told.
func (o *Override) UnmarshalJSON(text []byte) error {
	var read Override
	var c change
	err := c.readObject(text, func(name string, value json.RawMessage) (known bool, err error) {
		if name != "callers" {
			return false, nil
		}
		return true, readList(value, name, func(entry json.RawMessage) error {
			var caller CallerOverride
			err := caller.UnmarshalJSON(entry)
			read.Callers = append(read.Callers, caller)
			return err
		})
	})
	if err != nil {
		return err
	}
	read.Count, read.Period, read.Burst, read.Mode, read.Fail = c.split()
	*o = read
	return nil
}

// UnmarshalJSON is that of [Override], of an entry of its callers.
func (o *CallerOverride) UnmarshalJSON(text []byte) error {
	var read CallerOverride
	var c change
	err := c.readObject(text, func(name string, value json.RawMessage) (known bool, err error) {
		if name != "by" {
			return false, nil
		}
		if value[0] != '{' {
			return true, fmt.Errorf(`by is %s: want attributes of the caller, such as {"user":"ann"}`, shorten(value))
		}
		read.By = map[string]string{}
		err = readMembers(value, func(name string, value json.RawMessage) error {
			var text string
			if json.Unmarshal(value, &text) != nil || text == "" {
				return fmt.Errorf("%s is %s: want the value of the caller as text", name, value)
			}
			read.By[name] = text
			return nil
		})
		if err == nil {
			err = checkBy(read.By)
		}
		return true, err
	})
	if err == nil && read.By == nil {
		err = checkBy(nil)
	}
	if err != nil {
		return err
	}
	read.Count, read.Period, read.Burst, read.Mode, read.Fail = c.split()
	*o = read
	return nil
}

// UnmarshalJSON reads a file of overrides, {"mode":"enforce","limits":{"users.Service.Get#1s":{"count":5}}}. What is not
// known, or said twice, is an error, and so is what [Override] does not read. All errors are told.
func (o *Overrides) UnmarshalJSON(text []byte) error {
	var read Overrides
	err := readMembers(text, func(name string, value json.RawMessage) error {
		switch name {
		case "mode":
			var c change
			err := c.set(name, value)
			read.Mode = c.modeOrNil()
			return err
		case "limits":
			read.Limits = map[string]*Override{}
			return readMembers(value, func(id string, value json.RawMessage) error {
				var entry Override
				err := entry.UnmarshalJSON(value)
				if err != nil {
					err = fmt.Errorf("%s: %w", id, err)
				}
				read.Limits[id] = &entry
				return err
			})
		}
		return fmt.Errorf("there is no %q: want mode or limits", name)
	})
	if err == nil {
		*o = read
	}
	return err
}

// split returns the fields of the change.
func (c change) split() (count int64, period time.Duration, burst int64, mode *Mode, fail Failure) {
	return c.count, c.period, c.burst, c.modeOrNil(), c.fail
}

func (c change) modeOrNil() *Mode {
	if c.mode == 0 {
		return nil
	}
	return new(c.asMode())
}

// readObject reads an object of the fields of a change, and of others that more knows.
func (c *change) readObject(text []byte, more func(name string, value json.RawMessage) (known bool, err error)) error {
	return readMembers(text, func(name string, value json.RawMessage) error {
		if known, err := more(name, value); known {
			return err
		}
		return c.set(name, value)
	})
}

// set sets the field of that name to a value in JSON.
func (c *change) set(name string, value json.RawMessage) error {
	text := string(value)
	if value[0] == '"' {
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
	}
	wrong := func(want string) error { return fmt.Errorf("%s is %s: want %s", name, value, want) }
	switch name {
	case "count", "burst":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || value[0] == '"' || n < 1 || n > maxCount {
			return wrong(fmt.Sprintf("an integer, 1 to %d", maxCount))
		}
		if name == "count" {
			c.count = n
		} else {
			c.burst = n
		}
	case "time":
		d, ok := parsePeriod(text)
		if !ok {
			return wrong("seconds, or a duration such as 500ms, 10s, 1m30s, 24h, 7d")
		}
		if d < minPeriod || d > maxTextPeriod {
			return wrong("1ms to 366d")
		}
		c.period = d
	case "mode":
		var m Mode
		if m.UnmarshalText([]byte(text)) != nil {
			return wrong("enforce, shadow or off")
		}
		c.mode = modeChange(&m)
	case "fail":
		if c.fail = Failure(text); !c.fail.valid() {
			return wrong("local, open or closed")
		}
	default:
		return fmt.Errorf("there is no %q: want %s", name, fields)
	}
	return nil
}

// readMembers reads an object, of which each name may stand once. It returns the errors of all members.
func readMembers(text []byte, read func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("%s: want an object in braces", shorten(text))
	}
	var errs []error
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // as those of all objects are
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if seen[name] {
			errs = append(errs, fmt.Errorf("%s is there twice: want it once", name))
			continue
		}
		seen[name] = true
		errs = append(errs, read(name, value))
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("want nothing behind the object")
	}
	return errors.Join(errs...)
}

// readList reads a list. It returns the errors of all entries.
func readList(text json.RawMessage, name string, read func(entry json.RawMessage) error) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return fmt.Errorf("%s is %s: want a list", name, shorten(text))
	}
	var errs []error
	for i, entry := range entries {
		if err := read(entry); err != nil {
			errs = append(errs, fmt.Errorf("%s %d: %w", name, i+1, err))
		}
	}
	return errors.Join(errs...)
}

// shorten returns text as it is shown in an error.
func shorten(text []byte) string {
	const most = 40
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
	}
	return string(text)
}
