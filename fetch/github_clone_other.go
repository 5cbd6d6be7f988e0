//go:build !unix

package fetch

import (
	"os"
	"os/exec"
)

// confined returns the command that runs program. There are no limits to set here: the tunnel and the clock bound what
// it does.
func confined(program string, args []string, _ int64) (name string, argv []string) {
	return program, args
}

// systemEnv is what programs need of the environment besides what they are given: Windows opens no socket without
// SystemRoot.
func systemEnv() []string {
	return []string{"SystemRoot=" + os.Getenv("SystemRoot"), "TEMP=" + os.TempDir()}
}

// ownGroup leaves cmd as it is: it is killed alone, and its children end with their tunnel.
func ownGroup(*exec.Cmd) {}
