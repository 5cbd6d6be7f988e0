//go:build !unix

package github

import (
	"os"
	"os/exec"
)

// confined returns the command that runs git. The system has no limits to set: the tunnel and the timeout bound what
// git does.
func confined(program string, args []string, _ int64) (name string, argv []string) {
	return program, args
}

// systemEnv returns the variables that every program needs here: without SystemRoot, Windows opens no socket.
func systemEnv() []string {
	return []string{"SystemRoot=" + os.Getenv("SystemRoot"), "TEMP=" + os.TempDir()}
}

// ownGroup leaves cmd as it is: its children end when the tunnel closes.
func ownGroup(*exec.Cmd) {}
