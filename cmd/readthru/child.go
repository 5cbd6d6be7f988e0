package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// notRun says that a command could not be started. The statuses are a shell's: 127 when it is not there, 126 when it
// may not be run.
func (p *program) notRun(name string, err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	status := 127
	if errors.Is(err, fs.ErrPermission) {
		status = 126
	}
	p.note("error: run %s: %s", name, err)
	return exitError(status)
}

// runChild runs a command, hands it the signals that reach us, and returns its status. What we were told to ignore, as
// by nohup, it ignores too.
func (p *program) runChild(name string, args []string, vars []variable) error {
	cmd := &exec.Cmd{
		Path: name, Args: args, Env: withVariables(os.Environ(), vars), Stdin: p.in, Stdout: p.out,
		Stderr: p.err,
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT},
		p.ignores)...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return p.notRun(args[0], err)
	}
	// A terminal sends its interrupts to the whole group, the command included; another would be one too many.
	fromTerminal := terminal(p.in) || terminal(p.out) || terminal(p.err)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if fromTerminal && (sig == os.Interrupt || sig == syscall.SIGQUIT) {
				continue
			}
			_ = cmd.Process.Signal(sig) // it may have ended already, which Wait tells
		case err := <-done:
			return childStatus(err)
		}
	}
}

// childStatus is a command's status as a shell gives it: 128 and the signal's number when a signal ended it.
func childStatus(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitError(128 + int(ws.Signal()))
	}
	return exitError(exit.ExitCode())
}

// withVariables returns env with vars set, and without the proxy of all protocols, which would win with some clients.
func withVariables(env []string, vars []variable) []string {
	replaced := map[string]bool{"ALL_PROXY": true, "all_proxy": true}
	for _, v := range vars {
		replaced[v.name] = true
	}
	var out []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !replaced[name] {
			out = append(out, e)
		}
	}
	for _, v := range vars {
		out = append(out, v.name+"="+v.value)
	}
	return out
}
