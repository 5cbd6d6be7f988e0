package webtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// command is where the program is in its tree.
const command = "./cmd/readthru"

// Program returns the path of this module's program: the one that READTHRU_PROGRAM names, which is built once for the
// tests of all packages, or else one that is built in dir.
func Program(ctx context.Context, dir string) (binary string, err error) {
	if binary = os.Getenv("READTHRU_PROGRAM"); binary != "" {
		return binary, nil
	}
	return Build(ctx, dir)
}

// Build builds this module's program without C, as it is released, and returns the path of the binary, which is in dir.
// flags are further ones of "go build"; "-C" and its folder come first and name another tree. It is built without
// -trimpath, so that it shares all compiled packages with the tests.
func Build(ctx context.Context, dir string, flags ...string) (binary string, err error) {
	binary = filepath.Join(dir, "readthru")
	if len(flags) == 0 || flags[0] != "-C" {
		root, err := tree()
		if err != nil {
			return "", err
		}
		flags = append([]string{"-C", root}, flags...)
	}
	args := slices.Concat([]string{"build"}, flags, []string{"-o", binary, command})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return binary, nil
}

// tree returns the folder of the program's module, which is the working directory or above it: what calls it may be of
// a module of its own.
func tree() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, command)); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("the program's source is not in a folder above this one")
		}
	}
}
