package webtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Build builds this module's program without C, as it is released, and returns the path of the binary, which is in dir.
// flags are further ones of "go build"; "-C" and its folder come first and name another tree.
func Build(ctx context.Context, dir string, flags ...string) (binary string, err error) {
	binary = filepath.Join(dir, "readthru")
	args := slices.Concat([]string{"build"}, flags, []string{"-trimpath", "-o", binary, "readthru/cmd/readthru"})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return binary, nil
}
