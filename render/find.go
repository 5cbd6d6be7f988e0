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

// executable is the browser of this machine, as find has found it.
type executable struct {
	path  string // empty if there is none
	shell bool   // a headless shell, which is smaller and faster and makes no requests of its own
	err   error  // why there is none
}

// shells are names of headless shells, browsers those of full browsers, in order of preference for find. The program of
// Debian's headless shell comes first, because the script in /usr/bin stays the parent of the browser: to kill the
// script does not kill the browser.
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

// platformPaths finds the paths of browsers on systems where they are not in the search path: macOS and Windows.
func platformPaths() []string {
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

// errNotInstalled reports that none of the usual places has a browser. Pages are then fetched without scripts.
var errNotInstalled = errors.New("no Chromium, Chrome or Edge is installed")

// find returns the browser with a name or path (render.browser), or the first of the usual ones if name is empty. It
// starts nothing. A name that is set and not found is an error, even if there is another browser: somebody has chosen
// it.
func find(name string) executable {
	if name != "" {
		path, err := lookUp(name)
		if err != nil {
			return executable{err: fmt.Errorf("render.browser: %w", err)}
		}
		return executable{path: path, shell: isShell(path)}
	}
	for _, list := range [][]string{shells, browsers, platformPaths()} {
		for _, name := range list {
			if path, err := lookUp(name); err == nil {
				return executable{path: path, shell: isShell(path)}
			}
		}
	}
	return executable{err: errNotInstalled}
}

// lookUp finds the path of a browser's program, given its name or path. For the script of Debian's headless shell it
// returns the program itself.
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

// isShell reports whether a browser that was found is a headless shell, by its name.
func isShell(path string) bool {
	base := strings.ReplaceAll(strings.ToLower(filepath.Base(path)), "_", "-")
	return strings.Contains(base, "headless-shell")
}
