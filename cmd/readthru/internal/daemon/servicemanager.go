package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/service"
)

// ServiceManager returns what keeps programs running on this system.
func ServiceManager(s *settings.Settings) (service.Manager, error) {
	switch runtime.GOOS {
	case "darwin":
		home, err := os.UserHomeDir()
		return service.Launchd{Dir: filepath.Join(home, "Library", "LaunchAgents"), UID: os.Getuid()}, err
	case "windows":
		u, err := user.Current()
		if err != nil {
			return nil, err
		}
		return service.Tasks{Dir: s.DataDir, User: u.Username}, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, err
	}
	return service.Systemd{Dir: filepath.Join(dir, "systemd", "user")}, nil
}

// ReachableManager returns the manager, or an error if it cannot be asked.
func ReachableManager(ctx context.Context, s *settings.Settings) (service.Manager, error) {
	m, err := ServiceManager(s)
	if _, ok := m.(service.Systemd); !ok || err != nil {
		return m, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "--user", "show-environment").CombinedOutput()
	if err == nil {
		return m, nil
	}
	return nil, terminal.WithHint(fmt.Errorf("ask systemd's user manager: %w: %s", err, strings.TrimSpace(string(out))),
		"this system has none, as in a container, or this is no login: have what starts programs here run \"readthru "+
			"serve\"; commands under \"readthru run\" start the daemon by themselves")
}
