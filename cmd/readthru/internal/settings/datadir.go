package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// elsewhere is the remedy for an unusable data directory.
const elsewhere = "choose another directory with --data-dir or READTHRU_DATA_DIR"

// MakeDataDir creates the data directory, for its owner only.
func MakeDataDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return terminal.WithHint(fmt.Errorf("create the data directory: %w", err), elsewhere)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return terminal.WithHint(fmt.Errorf("restrict the data directory to its owner: %w", err), elsewhere)
	}
	return nil
}

// DataDir returns the data directory and its source: a flag, the environment, or the default of the platform.
func DataDir(flag string) (dir, source string, err error) {
	if flag != "" {
		dir, err = filepath.Abs(flag)
		return dir, "flag --data-dir", err
	}
	if named := os.Getenv("READTHRU_DATA_DIR"); named != "" {
		dir, err = filepath.Abs(named)
		return dir, "environment READTHRU_DATA_DIR", err
	}
	if xdg := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "readthru"), "environment XDG_DATA_HOME", nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", "", terminal.WithHint(terminal.Usagef("find the data directory: %w", err),
			"name one with --data-dir or READTHRU_DATA_DIR")
	}
	switch local := os.Getenv("LocalAppData"); {
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "readthru"), "default", nil
	case runtime.GOOS == "windows" && local != "":
		return filepath.Join(local, "readthru"), "environment LocalAppData", nil
	}
	return filepath.Join(home, ".local", "share", "readthru"), "default", nil
}

// RequestsDir is the directory of a data directory in which requests are kept.
func RequestsDir(dataDir string) string { return filepath.Join(dataDir, "requests") }

// ReplayVariable names the recording in the environment of a command in a replay. readthru's own commands do not use
// the proxy, so no recording has what they read, and they must not read it from the network instead.
const ReplayVariable = "READTHRU_REPLAY"
