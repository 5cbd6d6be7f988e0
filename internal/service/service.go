// Package service has the operating system keep a daemon running: systemd's user manager, launchd, or the task
// scheduler of Windows. It says what to do; doing it is a [Step]'s.
package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/readthru/readthru/internal/wholefile"
)

// A Manager keeps programs of a user running.
type Manager interface {
	// Name is what users call the manager.
	Name() string

	// Files returns where the manager's files about the daemon are, whether they exist or not.
	Files() []string

	// Install returns what makes the manager start the daemon now and whenever the user signs in, and start it again
	// when it fails. installed says that an earlier installation is replaced.
	Install(d Daemon, installed bool) []Step

	// Uninstall returns what takes all of that back.
	Uninstall() []Step

	// Restart ends the daemon and starts it again, Status tells its state, and Logs shows what it logged: with follow as
	// it comes. log is [Daemon.Log]. Each is a command.
	Restart() []string
	Status() []string
	Logs(log string, follow bool) []string
}

// A Daemon is what a manager keeps running.
type Daemon struct {
	// Command is the program's absolute path and its arguments.
	Command []string

	// Listen are the addresses, an IP and a port each, that the manager may hold for the daemon. Clients that connect
	// while the daemon does not run wait until it does. A manager that holds no addresses leaves them to the daemon.
	Listen []string

	// Log is the file for the daemon's log, where the manager keeps none itself.
	Log string
}

// A Step is one thing that is done: a file is written or removed, or a command is run. Exactly one of Write, Remove and
// Run is set.
type Step struct {
	Write string `json:"write,omitempty"` // name of a file
	Text  string `json:"text,omitempty"`  // its content

	// Remove names a file or an empty folder. What is not there, or not empty, stays as it is.
	Remove string `json:"remove,omitempty"`

	Run   []string `json:"run,omitempty"`
	Tries bool     `json:"-"` // the command may fail: it undoes what may not be there
}

// String returns the step as a person reads it, with a file's content indented below its name.
func (s Step) String() string {
	switch {
	case s.Write != "":
		return "write " + s.Write + "\n" + indented(s.Text)
	case s.Remove != "":
		return "remove " + s.Remove + "\n"
	}
	return "run " + shellLine(s.Run) + "\n"
}

// indented returns the content of a file of a step, indented.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// shellLine returns a command as it is typed at a shell.
func shellLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\"'\\$`&|;<>()*?[]{}~#!%") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words[i] = a
	}
	return strings.Join(words, " ")
}

// Do does the step.
func (s Step) Do() error {
	switch {
	case s.Write != "":
		if err := os.MkdirAll(filepath.Dir(s.Write), 0o755); err != nil {
			return err
		}
		return wholefile.Write(s.Write, []byte(s.Text), 0o600)
	case s.Remove != "":
		if entries, err := os.ReadDir(s.Remove); err == nil && len(entries) > 0 {
			return nil // it is a folder that others use
		}
		if err := os.Remove(s.Remove); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	out, err := exec.Command(s.Run[0], s.Run[1:]...).CombinedOutput() //nolint:noctx // to its end: half of it helps nobody
	if err != nil && !s.Tries {
		return fmt.Errorf("%s: %w: %s", shellLine(s.Run), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Installed reports whether any of a manager's files about the daemon exists.
func Installed(m Manager) bool {
	for _, name := range m.Files() {
		if _, err := os.Lstat(name); err == nil {
			return true
		}
	}
	return false
}
