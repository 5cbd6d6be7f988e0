package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/internal/service"
	"github.com/readthru/readthru/internal/wholefile"
)

// Info is the file that a running daemon writes into its data directory, so that commands find it.
type Info struct {
	Instance string    `json:"instance"` // random; /healthz of the daemon answers the same
	PID      int       `json:"pid"`
	Proxy    string    `json:"proxy"` // host:port
	Admin    string    `json:"admin"` // host:port
	Token    string    `json:"token"`
	Secret   string    `json:"secret"` // random; with it the daemon proves who it is before it is sent the token
	Offline  bool      `json:"offline,omitempty"`
	Started  time.Time `json:"started"`
	Version  string    `json:"version"` // of its program; empty if that was made before it wrote this

	// Made tells what a daemon that a command started was made of: see MadeOf. Such a daemon ends when it is not used.
	// It is empty for "readthru serve".
	Made string `json:"made,omitempty"`
}

// OtherVersion tells that the daemon is another version's than this program, and what to do. Both texts are empty if it
// is not.
func (d *Info) OtherVersion(s *settings.Settings) (what, remedy string) {
	if d.Version == releases.Version {
		return "", ""
	}
	what = fmt.Sprintf("the daemon is readthru %s, this program %s", cmp.Or(d.Version, "of an earlier version"),
		releases.Version)
	switch m, err := ServiceManager(s); {
	case d.Made != "":
		return what, `it is replaced when no command uses it, or by "readthru stop"`
	case err == nil && service.Installed(m):
		return what, `run "readthru service restart"`
	default:
		return what, `stop it with "readthru stop", and start it as before`
	}
}

// NoteOtherVersion warns of a daemon of another version.
func NoteOtherVersion(std terminal.Streams, s *settings.Settings, d *Info) {
	if other, remedy := d.OtherVersion(s); other != "" {
		std.Note("warning: %s: %s", other, remedy)
	}
}

func daemonFile(dir string) string { return filepath.Join(dir, "daemon.json") }

// Write writes d into the data directory in one step, readable only by its owner.
func (d *Info) Write(dir string) error {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(daemonFile(dir), append(b, '\n'), 0o600)
}

// Remove deletes daemon.json if it is still d's.
func (d *Info) Remove(dir string) {
	if now, err := Read(dir); err == nil && now.Instance == d.Instance {
		_ = os.Remove(daemonFile(dir)) // a file that stays does no harm: no daemon answers as it says
	}
}

// Read reads what the daemon of a data directory wrote there, which may have ended since.
func Read(dir string) (*Info, error) {
	b, err := os.ReadFile(daemonFile(dir))
	if err != nil {
		return nil, err
	}
	d := new(Info)
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("read %s: %w", daemonFile(dir), err)
	}
	return d, nil
}

// Find returns the daemon that serves a data directory, or nil if none answers as the one that daemon.json names:
// the file may be left over from a crash, and another program may have its port.
func Find(ctx context.Context, dir string) *Info {
	d, err := Read(dir)
	if err != nil || d.Admin == "" || d.Instance == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	client := api.NewClient(d.Admin, d.Token, UserAgent)
	defer client.Close()
	if client.Recognise(ctx, d.Secret) != nil {
		return nil
	}
	return d
}

// NewInstance returns a random name for a daemon.
func NewInstance() string { return rand.Text() }

// UserAgent is the User-Agent of the commands.
var UserAgent = "readthru/" + releases.Version
