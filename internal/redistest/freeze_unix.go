//go:build unix

package redistest

import "syscall"

// Freeze stops the server as it is: connections stay, and nobody answers on them, until [Instance.Thaw]. New ones are
// accepted by the system, and are as silent.
func (i *Instance) Freeze() {
	i.t.Helper()
	i.signal(syscall.SIGSTOP)
}

// Thaw lets the server go on. It then does what it was sent meanwhile.
func (i *Instance) Thaw() {
	i.t.Helper()
	i.signal(syscall.SIGCONT)
}

func (i *Instance) signal(s syscall.Signal) {
	i.t.Helper()
	if err := i.process.Signal(s); err != nil {
		i.t.Fatalf("%v to the server: %v", s, err)
	}
}
