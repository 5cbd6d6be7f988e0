package render

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// found is a browser on this machine.
type found struct {
	path  string // empty: none
	shell bool   // a headless shell: smaller, faster, and it calls nobody
	err   error  // why there is none
}

// shells are names of the headless shell, browsers those of a whole Chromium, in the order of preference. Debian's
// chromium-headless-shell in /usr/bin is a script that stays the parent of the browser, so that killing it kills
// nothing: the program itself is looked for instead.
var (
	shells = []string{
		"/usr/lib/chromium/chromium-headless-shell", "chrome-headless-shell", "headless_shell",
		"headless-shell",
	}
	browsers = []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge",
		"microsoft-edge-stable",
	}
)

// elsewhere returns where browsers are on systems that have no search path for them.
func elsewhere() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{
			"/Applications/Chromium.app/Contents/MacOS/Chromium",
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
			"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
		}
	case "windows":
		var list []string
		for _, root := range []string{os.Getenv("ProgramFiles"), os.Getenv("ProgramFiles(x86)"), os.Getenv("LocalAppData")} {
			if root != "" {
				list = append(list, filepath.Join(root, `Google\Chrome\Application\chrome.exe`),
					filepath.Join(root, `Chromium\Application\chrome.exe`),
					filepath.Join(root, `Microsoft\Edge\Application\msedge.exe`))
			}
		}
		return list
	}
	return nil
}

// errNotInstalled says that no browser is in any of the usual places.
var errNotInstalled = errors.New("no Chromium, Chrome or Edge is installed")

// find looks for a browser: the one named, or the first of the usual ones.
func find(name string) found {
	if name != "" {
		path, err := lookUp(name)
		if err != nil {
			return found{err: fmt.Errorf("render.browser: %w", err)}
		}
		return found{path: path, shell: isShell(path)}
	}
	for _, list := range [][]string{shells, browsers, elsewhere()} {
		for _, name := range list {
			if path, err := lookUp(name); err == nil {
				return found{path: path, shell: isShell(path)}
			}
		}
	}
	return found{err: errNotInstalled}
}

// lookUp returns the path of a program, by name or path. A script around Debian's headless shell is taken for the shell
// itself.
func lookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	if filepath.Base(path) == "chromium-headless-shell" && filepath.Dir(path) != "/usr/lib/chromium" {
		if real, err := exec.LookPath(shells[0]); err == nil {
			return real, nil
		}
	}
	return path, nil
}

func isShell(path string) bool {
	base := strings.ReplaceAll(strings.ToLower(filepath.Base(path)), "_", "-")
	return strings.Contains(base, "headless-shell")
}
