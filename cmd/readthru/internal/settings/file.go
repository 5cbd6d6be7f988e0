package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/strictyaml"
)

// maxConfig is the largest configuration file read, in bytes.
const maxConfig = 1 << 20

// readFile reads the configuration file: the one that a flag or the environment names, which must exist, else the
// user's, which may be missing. Every error
// has a line and a key.
func (s *Settings) readFile(flag string) error {
	name := cmp.Or(flag, os.Getenv("READTHRU_CONFIG"))
	named := name != ""
	if !named {
		if name = userFile(); name == "" {
			return nil
		}
	}
	f, err := os.Open(name)
	if err != nil {
		if !named && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return terminal.WithHint(terminal.Usagef("read the configuration: %w", err),
			"name another file with --config or READTHRU_CONFIG")
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return terminal.Usagef("read the configuration: %w", err)
	}
	s.ConfigFile = name
	switch {
	case flag != "":
		s.Source["config"] = "flag --config"
	case named:
		s.Source["config"] = "environment READTHRU_CONFIG"
	}
	return s.readYAML(name, text)
}

// userFile returns the path of the user's configuration file; "" without a home directory.
func userFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "readthru", "config.yaml")
}

// readYAML sets the keys of a YAML text. name is the name of its file.
func (s *Settings) readYAML(name string, text []byte) error {
	if len(text) > maxConfig {
		return terminal.Usagef("%s: a configuration has at most %d bytes", name, maxConfig)
	}
	err := strictyaml.Decode(text, s.Config, func(key string, at strictyaml.Place) {
		if !strings.Contains(key, "[") { // of an element of a list; the list has its source
			s.Source[key] = fmt.Sprintf("file %s:%d", name, at.Line)
		}
	})
	if mistake, ok := errors.AsType[*strictyaml.Error](err); ok && mistake.Line > 0 {
		return terminal.Usagef("%s:%d: %w", name, mistake.Line, mistake)
	} else if err != nil {
		return terminal.Usagef("%s: %w", name, err)
	}
	return nil
}
