// Package releases knows which version this program is and where readthru is published, and asks there for the latest
// release.
package releases

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/readthru/readthru/internal/lazy"
)

// Home is where releases are published. It is the one place to change it.
const Home = "https://github.com/readthru/readthru"

// ErrNone is the error of Latest if nothing has been released.
var ErrNone = errors.New("no release is published there")

// Page returns the URL of a release's page, and File that of one of its files.
func Page(version string) string { return Home + "/releases/tag/" + version }

// File returns the URL of a file of a release.
func File(version, name string) string { return Home + "/releases/download/" + version + "/" + name }

// Latest returns the version of the latest release, for example v1.2.3. It sends one request, for the address that
// redirects to the release's page, and believes no answer that leads elsewhere or names no version.
func Latest(ctx context.Context, rt http.RoundTripper) (version string, err error) {
	const address = Home + "/releases/latest"
	defer func() {
		if err != nil {
			err = fmt.Errorf("ask %s for the latest release: %w", address, err)
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := rt.RoundTrip(req) // follows no redirect
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 3 {
		return "", fmt.Errorf("status %d", resp.StatusCode)
	}
	to, err := resp.Location()
	if err != nil {
		return "", fmt.Errorf("status %d: %w", resp.StatusCode, err)
	}
	version, ok := strings.CutPrefix(to.String(), Page(""))
	switch {
	case to.String() == Home+"/releases":
		return "", ErrNone
	case !ok:
		return "", fmt.Errorf("it redirects to %q, which is no release", to)
	case !semver.IsValid(version):
		return "", fmt.Errorf("%q is no version", version)
	}
	return version, nil
}

// described is what "git describe" adds to a tag for commits after it and for changes that are not committed.
var described = lazy.Pattern(`(-\d+-g[0-9a-f]{4,40})?(-dirty)?$`)

// Newer reports whether a release is newer than a version of this program, which "git describe" or the go command told.
// known is false if the version tells no release, as that of a program built from a checkout does.
func Newer(release, version string) (newer, known bool) {
	base := described().ReplaceAllString(version, "")
	if !semver.IsValid(base) || module.IsPseudoVersion(base) {
		return false, false
	}
	return semver.Compare(release, base) > 0, true
}

// stamped is set when the program is built by make: -ldflags "-X …/internal/releases.stamped=…".
var stamped = ""

// Version is this program's: that of its build, else that of the module or commit that go install or go build used.
var Version = versionOf(stamped)

// Stamped reports whether the build of this program gave it its version.
func Stamped() bool { return stamped != "" }

// versionOf returns the version of this program: the one that its build was given, or else that of its module; devel if
// there is neither.
func versionOf(stamped string) string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version
	}
	return "devel"
}
