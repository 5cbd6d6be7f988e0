package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/service"
	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/store"
)

// daemonInfo is the file that a running daemon writes into its data directory, so that commands find it.
type daemonInfo struct {
	Instance string    `json:"instance"` // random; /healthz of the daemon answers the same
	PID      int       `json:"pid"`
	Proxy    string    `json:"proxy"` // host:port
	Admin    string    `json:"admin"` // host:port
	Token    string    `json:"token"`
	Secret   string    `json:"secret"` // random; with it the daemon proves who it is before it is sent the token
	Offline  bool      `json:"offline,omitempty"`
	Started  time.Time `json:"started"`
	Version  string    `json:"version"` // of its program; empty if that was made before it wrote this

	// Made tells what a daemon that a command started was made of: see madeOf. Such a daemon ends when it is not used.
	// It is empty for "readthru serve".
	Made string `json:"made,omitempty"`
}

// otherVersion tells that the daemon is another version's than this program, and what to do. Both texts are empty if it
// is not.
func (d *daemonInfo) otherVersion(s *settings) (what, remedy string) {
	if d.Version == version {
		return "", ""
	}
	what = fmt.Sprintf("the daemon is readthru %s, this program %s", cmp.Or(d.Version, "of an earlier version"), version)
	switch m, err := serviceManager(s); {
	case d.Made != "":
		return what, `it is replaced when no command uses it, or by "readthru stop"`
	case err == nil && service.Installed(m):
		return what, `run "readthru service restart"`
	default:
		return what, `stop it with "readthru stop", and start it as before`
	}
}

// noteOtherVersion warns of a daemon of another version.
func (p *program) noteOtherVersion(s *settings, d *daemonInfo) {
	if other, remedy := d.otherVersion(s); other != "" {
		p.note("warning: %s: %s", other, remedy)
	}
}

func daemonFile(dir string) string { return filepath.Join(dir, "daemon.json") }

// write writes d into the data directory in one step, readable only by its owner.
func (d *daemonInfo) write(dir string) error {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(daemonFile(dir), append(b, '\n'), 0o600)
}

// remove deletes daemon.json if it is still d's.
func (d *daemonInfo) remove(dir string) {
	if now, err := readDaemon(dir); err == nil && now.Instance == d.Instance {
		_ = os.Remove(daemonFile(dir)) // a file that stays does no harm: no daemon answers as it says
	}
}

func readDaemon(dir string) (*daemonInfo, error) {
	b, err := os.ReadFile(daemonFile(dir))
	if err != nil {
		return nil, err
	}
	d := new(daemonInfo)
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("read %s: %w", daemonFile(dir), err)
	}
	return d, nil
}

// findDaemon returns the daemon that serves a data directory, or nil if none answers as the one that daemon.json names:
// the file may be left over from a crash, and another program may have its port.
func findDaemon(ctx context.Context, dir string) *daemonInfo {
	d, err := readDaemon(dir)
	if err != nil || d.Admin == "" || d.Instance == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	client := api.NewClient(d.Admin, d.Token, agentName)
	defer client.Close()
	if client.Recognise(ctx, d.Secret) != nil {
		return nil
	}
	return d
}

// newInstance returns a random name for a daemon.
func newInstance() string { return rand.Text() }

// lockWait is how long a command waits for another that has the store open and is not, or not yet, a daemon.
const lockWait = 10 * time.Second

// openOrFind returns the running daemon, or what open returns once it could open the store. It waits while another
// process has the store: that may be a command that ends soon, or a daemon that is about to answer.
func openOrFind(ctx context.Context, s *settings, open func() (*daemonInfo, error)) (*daemonInfo, error) {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for end := time.Now().Add(lockWait); ; {
		if d := findDaemon(ctx, s.dataDir); d != nil {
			return d, nil
		}
		d, err := open()
		if _, locked := errors.AsType[*store.LockedError](err); !locked || time.Now().After(end) {
			return d, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-poll.C:
		}
	}
}

// awaitStore calls open until it can open the store of a data directory. It waits for a process that has the store and
// is no running daemon: that one is about to end, as a daemon that was told to stop is, and a command.
func awaitStore(ctx context.Context, dir string, say func(format string, args ...any), open func() error) error {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	began := time.Now()
	for waits := false; ; {
		err := open()
		locked, is := errors.AsType[*store.LockedError](err)
		if !is {
			return err
		}
		if d := findDaemon(ctx, dir); d != nil {
			return withHint(err, `it is a daemon that runs: stop it with "readthru stop"`)
		}
		if time.Since(began) >= lockWait {
			return withHint(err, fmt.Sprintf("it is no daemon that answers, and has not ended within %s", lockWait))
		}
		if !waits {
			waits = true
			say("waiting for the end of %s, which has the store open", locked.Holder())
		}
		select {
		case <-ctx.Done():
			return err
		case <-poll.C:
		}
	}
}

// sharedDaemon is a running daemon that keeps running until release is called. Otherwise a daemon that a command
// started could end because nothing uses it.
type sharedDaemon struct {
	*daemonInfo
	client  *api.Client
	release func()
	other   bool // it was made of another program or configuration, and others use it
}

// share returns a daemon that keeps running. It starts one if none runs.
func share(ctx context.Context, s *settings) (*sharedDaemon, error) {
	return shareEarly(ctx, s, func() {})
}

// shareEarly is share, and calls listening when who connects to the daemon's ports waits for it, if it starts one.
func shareEarly(ctx context.Context, s *settings, listening func()) (*sharedDaemon, error) {
	return openOrShare(ctx, s, func() (*daemonInfo, error) { return startShared(ctx, s, listening) })
}

// openOrShare is openOrFind, and keeps the daemon running that it returns. A daemon that a command started with another
// configuration makes way if nothing uses it.
func openOrShare(ctx context.Context, s *settings, open func() (*daemonInfo, error)) (*sharedDaemon, error) {
	if name := os.Getenv(replayVariable); name != "" {
		return nil, withHint(fmt.Errorf("readthru's own commands do not work in a replay of %s", name),
			"unset "+replayVariable+" to leave the replay")
	}
	for end := time.Now().Add(stopTime); ; {
		d, err := openOrFind(ctx, s, open)
		if err != nil || d == nil {
			return nil, err
		}
		other := d.Made != "" && d.Made != madeOf(s)
		if other {
			gone, err := stopDaemon(ctx, s.dataDir, d, true)
			if err != nil {
				return nil, err
			}
			if gone {
				continue
			}
		}
		client := api.NewClient(d.Admin, d.Token, agentName)
		release, err := client.Hold(ctx)
		if err == nil {
			return &sharedDaemon{d, client.By(api.DoorCommand), func() { release(); client.Close() }, other}, nil
		}
		client.Close()
		switch api.CodeOf(err) {
		case "", api.CodeStopping, api.CodeUnavailable:
		default:
			return nil, err
		}
		if time.Now().After(end) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond): // it is about to stop, or has stopped
		}
	}
}

// agentName is the User-Agent of the commands.
var agentName = "readthru/" + version

// withClient runs do with a client of the daemon, or of the store opened here if no daemon runs.
func (p *program) withClient(ctx context.Context, do func(*api.Client) error) error {
	return p.withDaemonOr(ctx, do, func(s *api.Server) error { return do(s.Client(agentName).By(api.DoorCommand)) })
}

// withDaemonOr runs asked with a client of the daemon; if no daemon runs, it runs here with a server over the store.
func (p *program) withDaemonOr(ctx context.Context, asked func(*api.Client) error,
	here func(*api.Server) error,
) (err error) {
	s, err := p.load()
	if err != nil {
		return err
	}
	if err := makeDataDir(s.dataDir); err != nil {
		return err
	}
	var c *core
	d, err := openOrShare(ctx, s, func() (_ *daemonInfo, err error) { //nolint:contextcheck // opening the store takes none
		c, err = openCore(s, s.dataDir, false, slog.New(slog.DiscardHandler))
		return nil, err
	})
	if err != nil {
		return err
	}
	if d != nil {
		defer d.release()
		return asked(d.client)
	}
	defer func() {
		if ctx.Err() != nil { // whoever interrupted us does not wait for what would only be stored
			c.cache.Abandon()
		}
		if cerr := c.Close(); err == nil { //nolint:contextcheck // closing takes none
			err = cerr
		}
	}()
	server := c.server(nil, nil, &daemonInfo{}, nil)
	defer server.Stop()
	return here(server)
}
