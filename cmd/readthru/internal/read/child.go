package read

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// notRun reports that a command could not be started. The statuses are those of a shell: 127 if it was not found, 126
// if it may not be run.
func (p *program) notRun(name string, err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	status := 127
	if errors.Is(err, fs.ErrPermission) {
		status = 126
	}
	p.Note("error: run %s: %s", name, err)
	return terminal.ExitError(status)
}

// runChild runs a command, forwards signals to it, and returns its status. It does not forward signals that were
// ignored at our start, as by nohup.
func (p *program) runChild(name string, args []string, vars []settings.Variable) error {
	cmd := &exec.Cmd{
		Path: name, Args: args, Env: settings.WithVariables(os.Environ(),
			vars), Stdin: p.In, Stdout: terminal.Unfiltered(p.Out),
		Stderr: terminal.Unfiltered(p.Err),
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT},
		p.Ignores)...)
	defer signal.Stop(signals)
	err := cmd.Start()
	if errors.Is(err, syscall.ENOEXEC) && isScript(name) { // as a shell does
		if sh, lerr := exec.LookPath("sh"); lerr == nil {
			args = slices.Concat([]string{"sh", name}, args[1:])
			cmd = &exec.Cmd{Path: sh, Args: args, Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr}
			err = cmd.Start()
		}
	}
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return p.notRun(args[0], err)
	}
	// A terminal sends its interrupts to the whole process group, so the command has this one already.
	fromTerminal := terminal.Is(p.In) || terminal.Is(p.Out) || terminal.Is(p.Err)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if fromTerminal && (sig == os.Interrupt || sig == syscall.SIGQUIT) {
				continue
			}
			_ = cmd.Process.Signal(sig) // if it has ended, Wait reports that
		case err := <-done:
			return childStatus(err)
		}
	}
}

// isScript reports whether a file that the system cannot run begins like a text, for an error that says what it lacks.
func isScript(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	head := make([]byte, 512)
	n, err := f.Read(head)
	return err == nil && !bytes.Contains(head[:n], []byte{0})
}

// childStatus returns a command's status as a shell does: 128 plus the signal's number if a signal ended it.
func childStatus(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return terminal.ExitError(128 + int(ws.Signal()))
	}
	return terminal.ExitError(exit.ExitCode())
}
