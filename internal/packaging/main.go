// Command packaging makes what a release consists of, in dist/: archives for five systems, packages for Debian, Red Hat
// and Alpine, an image for containers, manifests for Homebrew, Scoop and winget, a bill of materials, and checksums.
//
// The same commit gives the same bytes: times are the commit's, and lists are sorted.
//
//	go run ./internal/packaging              # all
//	go run ./internal/packaging -only deb    # what has this in its name
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const summary = "caching forward proxy that gives agents the web as markdown"

// facts are what everything in a release says of it.
type facts struct {
	version string    // as "readthru version" prints it
	number  string    // the same for package managers: begins with a digit, and sorts
	time    time.Time // of the commit
	out     string    // folder
}

// target is a system that a release is made for.
type target struct{ os, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

func (t target) String() string { return t.os + "-" + t.arch }

// program is the name of the program's file.
func (t target) program() string {
	if t.os == "windows" {
		return "readthru.exe"
	}
	return "readthru"
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	out := flag.String("out", "dist", "the `FOLDER` to make the release in")
	only := flag.String("only", "", "make only what has `TEXT` in its name, for example deb or windows")
	version := flag.String("version", "", "the release's `VERSION`; by default that of the commit")
	flag.Parse()
	err := makeRelease(ctx, *out, *only, *version)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging: error:", err)
		os.Exit(1)
	}
}

// part is a file of a release, and what makes it.
type part struct {
	name string
	make func(ctx context.Context, file string) error
}

// makeRelease makes the parts of a release in a folder, or those that have a text in their names.
func makeRelease(ctx context.Context, out, only, version string) error {
	f, err := factsOf(ctx, out, version)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "readthru-packaging-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // in the folder for temporary files
	r := &release{facts: f, work: work, built: map[target]string{}}
	var made []string
	for _, p := range r.parts() {
		if !strings.Contains(p.name, only) {
			continue
		}
		file := filepath.Join(out, p.name)
		if err := p.make(ctx, file); err != nil {
			return fmt.Errorf("make %s: %w", p.name, err)
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		fmt.Printf("%9d %s\n", info.Size(), file)
		made = append(made, p.name)
	}
	if len(made) == 0 {
		return fmt.Errorf("nothing has %q in its name", only)
	}
	return r.manifests(made)
}

// factsOf reads what the repository says of the commit that is released.
func factsOf(ctx context.Context, out, version string) (facts, error) {
	f := facts{version: version, out: out}
	if f.version == "" {
		text, err := output(ctx, "git", "describe", "--tags", "--always", "--dirty")
		if err != nil {
			return f, err
		}
		f.version = text
	}
	text, err := output(ctx, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return f, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	f.time = time.Unix(seconds, 0).UTC()
	f.number = number(f.version, f.time)
	return f, err
}

// tagged is how the version of a tag begins.
var tagged = regexp.MustCompile(`^v?(\d+\..*)`)

// number returns a version as package managers want it. That of a commit without a tag tells its time.
func number(version string, at time.Time) string {
	if m := tagged.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return "0.0.0~" + at.Format("20060102150405") + "." + strings.ReplaceAll(version, "-", ".")
}

// output runs a program and returns what it prints.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, e.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
