package releases

import (
	"runtime/debug"
	"strings"
)

// stamped is set when the program is built by make: -ldflags "-X …/internal/releases.stamped=…".
var stamped = ""

// Version is this program's: that of its build, else that of the module or commit that go install or go build used.
var Version = versionOf(stamped)

// Stamped reports whether the build of this program gave it its version.
func Stamped() bool { return stamped != "" }

func versionOf(stamped string) string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version
	}
	return "devel"
}
