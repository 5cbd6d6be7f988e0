package daemon

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// maxLog is the size in bytes from which the log of daemons that commands start begins anew.
const maxLog = 1 << 20

// LogFile is the log of daemons that commands start.
func LogFile(dir string) string { return filepath.Join(dir, "daemon.log") }

// Started is what a daemon that a command starts tells the command, as lines on its standard output: first that it
// listens, then the rest.
type Started struct {
	Listening string `json:"listening,omitempty"` // the proxy's address: who connects now waits for the daemon

	// Another daemon is starting, and listens or is about to.
	Another bool `json:"another,omitempty"`

	Daemon *Info  `json:"daemon,omitempty"` // it answers now
	Error  string `json:"error,omitempty"`  // or it could not start
	Hint   string `json:"hint,omitempty"`
	Usage  bool   `json:"usage,omitempty"` // the error is a mistake in the configuration
}

// err returns the error that kept the daemon from starting.
func (s *Started) err() error {
	err := errors.New(s.Error)
	if s.Usage {
		err = terminal.Mistake(err)
	}
	if s.Hint != "" {
		err = terminal.WithHint(err, s.Hint)
	}
	return err
}

// MadeOf returns a name for the program and the configuration of which this process would make a daemon.
func MadeOf(s *settings.Settings) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(s.Config) // numbers, texts and lists of them
	if name, err := os.Executable(); err == nil {
		_ = writeProgram(h, name) // a program that cannot be read is like any other that cannot
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// writeProgram writes to w what tells a program from another one: not its name and time, which "go run" makes anew, but
// its size and its beginning, in which Go puts the ID of the build.
func writeProgram(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, info.Size()); err != nil {
		return err
	}
	_, err = io.Copy(w, io.LimitReader(f, 32<<10)) // as far as cmd/internal/buildid looks
	return err
}

// startShared starts a daemon that outlives this process and ends when it is not used, and returns once it answers. Of
// several commands that call it at once, one starts the daemon and the others get the same. It calls listening when
// who connects to the daemon's ports waits for it, unless it finds a daemon.
func startShared(ctx context.Context, s *settings.Settings, listening func()) (*Info, error) {
	if err := settings.MakeDataDir(s.DataDir); err != nil {
		return nil, err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(s.DataDir, "start.lock")).Lock()
	if err != nil {
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	defer unlock()
	if d := Find(ctx, s.DataDir); d != nil {
		return d, nil
	}
	child, err := spawnDaemon(s)
	if err != nil {
		return nil, err
	}
	defer child.leave()
	for {
		said, err := child.next()
		if err != nil {
			return nil, err
		}
		if said.Daemon != nil {
			return said.Daemon, nil
		}
		listening()
	}
}

// BeginShared starts a daemon as startShared does, but does not wait longer than until it listens. It returns where its
// proxy does, or "" if another daemon is starting. It calls meanwhile while the process of the daemon starts.
func BeginShared(s *settings.Settings, meanwhile func()) (proxy string, err error) {
	if err := settings.MakeDataDir(s.DataDir); err != nil {
		return "", err
	}
	child, err := spawnDaemon(s)
	meanwhile()
	if err != nil {
		return "", err
	}
	defer child.leave()
	_ = child.told.SetReadDeadline(time.Now().Add(ListenTime)) // a pipe has deadlines, except on Windows
	said, err := child.next()
	if err != nil {
		return "", err
	}
	if said.Daemon != nil {
		return said.Daemon.Proxy, nil
	}
	return said.Listening, nil
}

// A spawned daemon is a process of "readthru serve --detached".
type spawned struct {
	settings *settings.Settings
	process  *exec.Cmd
	told     *os.File
	lines    *bufio.Reader // of told
}

// spawnDaemon starts a daemon.
func spawnDaemon(s *settings.Settings) (*spawned, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a daemon: find this program: %w", err)
	}
	log, err := openLog(s.DataDir)
	if err != nil {
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	defer log.Close() //nolint:errcheck // it is the daemon's
	told, tells, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	cmd := &exec.Cmd{
		Path: name, Args: []string{"readthru", "serve", "--detached", "--data-dir", s.DataDir},
		Stdout: tells, Stderr: log, SysProcAttr: apart(),
	}
	if s.ConfigFile != "" {
		var file string
		if file, err = filepath.Abs(s.ConfigFile); err == nil {
			cmd.Args = append(cmd.Args, "--config", file)
		}
	}
	if err == nil {
		err = cmd.Start()
	}
	_ = tells.Close() // the daemon has its own
	if err != nil {
		_ = told.Close() // it was only read
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	return &spawned{s, cmd, told, bufio.NewReader(io.LimitReader(told, 1<<20))}, nil
}

// next returns what the daemon tells next. That it could not start is an error.
func (d *spawned) next() (*Started, error) {
	line, err := d.lines.ReadBytes('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("start a daemon: it does not listen yet: %w", err)
	}
	said := new(Started)
	if json.Unmarshal(line, said) != nil {
		return nil, terminal.WithHint(fmt.Errorf("start a daemon: it ended before it answered: %w", cmp.Or(d.process.Wait(),
			errors.New("no reason given"))), "see "+LogFile(d.settings.DataDir))
	}
	if said.Error != "" {
		_ = d.process.Wait() // it told why
		return nil, said.err()
	}
	if said.Daemon != nil && said.Daemon.PID == d.process.Process.Pid {
		said.Daemon.Made = MadeOf(d.settings)
	}
	return said, nil
}

// leave lets the daemon go on without this process.
func (d *spawned) leave() {
	_ = d.told.Close()              // it was only read
	_ = d.process.Process.Release() // fails if it has ended
}

// LockStart waits until no other daemon of the data directory is starting, and keeps others from it until unlock is
// called. It calls busy if it has to wait.
func LockStart(ctx context.Context, dir string, busy func()) (unlock func(), err error) {
	locked := make(chan struct{})
	go func() {
		unlock, err = lockedfile.MutexAt(filepath.Join(dir, "serve.lock")).Lock()
		close(locked)
	}()
	wait := time.NewTimer(20 * time.Millisecond)
	defer wait.Stop()
	for {
		select {
		case <-locked:
			if err != nil {
				return nil, fmt.Errorf("start the daemon: %w", err)
			}
			return sync.OnceFunc(unlock), nil
		case <-wait.C:
			busy()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// openLog opens the log of daemons that commands start, which is for its owner only.
func openLog(dir string) (*os.File, error) {
	name, how := LogFile(dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND
	if info, err := os.Stat(name); err == nil && info.Size() > maxLog {
		how |= os.O_TRUNC
	}
	return os.OpenFile(name, how, 0o600)
}

// Stop has a daemon stop and waits until it has. With unused it does nothing to a daemon that commands use, and
// reports false.
func Stop(ctx context.Context, dir string, d *Info, unused bool) (stopped bool, err error) {
	client := api.NewClient(d.Admin, d.Token, UserAgent)
	defer client.Close()
	switch err := client.Stop(ctx, unused); api.CodeOf(err) {
	case "", api.CodeStopping, api.CodeUnavailable: // it stops, has stopped, or was about to
	case api.CodeConflict:
		return false, nil
	default:
		return false, err
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for end := time.Now().Add(StopTime); ; {
		now, err := Read(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.Instance != d.Instance {
			return true, nil
		}
		if time.Now().After(end) {
			return false, fmt.Errorf("stop the daemon: process %d has not ended within %s", d.PID, StopTime)
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-poll.C:
		}
	}
}

// StopTime limits the time from the end of Run's context to the end of Run. The proxy waits 30 s for its requests.
const StopTime = 45 * time.Second

// ListenTime is how long an agent waits for its tools until the daemon listens.
const ListenTime = 2 * time.Second
