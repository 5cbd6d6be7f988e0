package wiring

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/internal/wholefile"
)

// AdminToken returns the token of the admin port: the configured one, else that of the data directory, which exists.
func AdminToken(s *settings.Settings) (string, error) {
	if s.Admin.Token != "" {
		return s.Admin.Token, nil
	}
	token, err := keptToken(s.DataDir)
	if err != nil {
		return "", fmt.Errorf("the token of the admin port: %w", err)
	}
	return token, nil
}

// tokenLength is how long the tokens that we make are.
var tokenLength = len(rand.Text())

// keptToken returns the admin port's token in a file of the data directory. The first use creates the file. A token
// that others could read, or that is not whole, is replaced.
func keptToken(dir string) (string, error) {
	name := filepath.Join(dir, "token")
	for range 3 { // another process may do the same
		token, err := readToken(name)
		if token != "" || err != nil {
			return token, err
		}
		token = rand.Text()
		aside, err := wholefile.Beside(name, []byte(token+"\n"))
		if err != nil {
			return "", err
		}
		err = os.Link(aside, name) // which leaves a file that is there already as it is
		if errors.Is(err, errors.ErrUnsupported) {
			err = os.Rename(aside, name)
		}
		_ = os.Remove(aside) // a file that stays does no harm
		if err == nil {
			return token, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s changes all the time", name)
}

// readToken returns the admin port's token in a file, or "" if there is none. It removes a file that has none to use,
// such as one that others may read.
func readToken(name string) (string, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if len(token) == tokenLength && info.Mode().IsRegular() &&
		(runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0) { // Windows keeps no such bits
		return token, nil
	}
	return "", os.Remove(name)
}
