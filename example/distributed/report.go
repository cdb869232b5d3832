package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// report tells what happens, as it happens, and keeps what the verdict needs. It is safe for concurrent use.
type report struct {
	out       io.Writer
	recovered chan struct{} // closed when Redis decides again in all processes

	mu       sync.Mutex
	began    time.Time
	accounts []*account // by user
	recent   tally      // since the last line of second
	all      tally
	took     []time.Duration // by call
	errs     []error         // the first few
	outage   outage
}

// outage is what the processes noticed of one. Times are since the load began; 0: not yet.
type outage struct {
	began time.Duration            // when the primary was killed
	alone [processes]time.Duration // when a process first decided by itself
	again [processes]time.Duration // when Redis first decided after that
}

func newReport(out io.Writer) *report {
	return &report{out: out, recovered: make(chan struct{}), began: time.Now()}
}

// tally is how many calls came to what.
type tally struct {
	outcomes [processes][undecided + 1]int
	local    int
}

func (t *tally) add(c call) {
	t.outcomes[c.process][c.outcome]++
	if c.local {
		t.local++
	}
}

func (t *tally) of(o outcome) int {
	n := 0
	for _, outcomes := range t.outcomes {
		n += outcomes[o]
	}
	return n
}

// begin says that the load begins now.
func (r *report) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = time.Now()
	var names, columns strings.Builder
	for p := range processes {
		fmt.Fprintf(&names, "  %-19s", "process "+processName(p))
		columns.WriteString("  admit refuse undec.")
	}
	fmt.Fprintf(r.out, "%9s%s  decided by     admitted\n", "", names.String())
	fmt.Fprintf(r.out, "%9s%s  Redis process  so far, of at most\n", "", columns.String())
}

// now returns the time since the load began.
func (r *report) now() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.began)
}

const someErrors = 5

// record is told each call.
func (r *report) record(c call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.accounts[c.user]
	a.add(c)
	r.recent.add(c)
	r.all.add(c)
	r.took = append(r.took, c.answered-c.sent)
	if c.err != nil && len(r.errs) < someErrors {
		r.errs = append(r.errs, c.err)
	}
	if a.lost > 0 && c.sent > a.lost && c.decided() {
		r.notice(c, a.user)
	}
}

// notice keeps who decides about the users of the primary that was killed.
func (r *report) notice(c call, user string) {
	alone, again := &r.outage.alone[c.process], &r.outage.again[c.process]
	switch {
	case c.local && *alone == 0:
		*alone = c.answered
		r.say("process %s decides by itself about %s", processName(c.process), user)
	case !c.local && *again == 0:
		*again = c.answered
		r.say("process %s has Redis decide about %s again", processName(c.process), user)
		if !slices.Contains(r.outage.again[:], 0) {
			close(r.recovered)
		}
	}
}

// lost says that the server of an address has been killed.
func (r *report) lost(primary string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outage.began = time.Since(r.began)
	for _, a := range r.accounts {
		if a.primary == primary {
			a.lost = r.outage.began
		}
	}
	r.say("killed %s, which kept the buckets of %s", primary, strings.Join(r.usersOf(primary), " "))
}

// usersOf returns the users whose buckets a server keeps at first.
func (r *report) usersOf(primary string) []string {
	var names []string
	for _, a := range r.accounts {
		if a.primary == primary {
			names = append(names, a.user)
		}
	}
	return names
}

// tell prints a line.
func (r *report) tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format+"\n", args...)
}

// event prints what has happened now.
func (r *report) event(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say(format, args...)
}

func (r *report) say(format string, args ...any) {
	fmt.Fprintf(r.out, "%6.2f s    %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// second prints what came of the calls since it was last called. Those that failed count as undecided.
func (r *report) second() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Since(r.began)
	fmt.Fprintf(r.out, "%6.2f s ", now.Seconds())
	for _, o := range r.recent.outcomes {
		fmt.Fprintf(r.out, "  %5d %6d %6d", o[admitted], o[refused], o[undecided]+o[failed])
	}
	is, most := 0, 0
	for _, a := range r.accounts {
		is += a.admitted
		most += a.most(now)
	}
	decided := r.recent.of(admitted) + r.recent.of(refused)
	fmt.Fprintf(r.out, "  %5d %7d  %6d of %d\n", decided-r.recent.local, r.recent.local, is, most)
	r.recent = tally{}
}
