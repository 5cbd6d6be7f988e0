package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/readthru/readthru/internal/releases"
)

// release makes the parts of a release. What several parts need is made once.
type release struct {
	facts
	work  string            // folder for what goes into parts
	built map[target]string // programs
	texts []file            // what goes beside the program: see beside
}

// parts are what a release consists of, but for the manifests, which name them.
func (r *release) parts() (list []part) {
	for _, t := range targets {
		pack, ending := archive, ".tar.gz"
		if t.os == "windows" {
			pack, ending = zipped, ".zip"
		}
		list = append(list, part{"readthru-" + t.String() + ending, func(ctx context.Context, name string) error {
			files, err := r.files(ctx, t)
			if err != nil {
				return err
			}
			return pack(name, "readthru-"+t.String(), files, r.time)
		}})
	}
	for _, t := range targets[:2] {
		for _, kind := range []string{"deb", "rpm", "apk"} {
			list = append(list, part{"readthru-" + t.String() + "." + kind, func(ctx context.Context, name string) error {
				return r.systemPackage(ctx, t, kind, name)
			}})
		}
	}
	return append(list,
		part{"readthru-image.tar", func(ctx context.Context, name string) error { return r.image(ctx, name) }},
		part{"readthru.cdx.json", func(ctx context.Context, name string) error { return r.bill(ctx, name) }})
}

// build returns the program for a target.
func (r *release) build(ctx context.Context, t target) (string, error) {
	if name := r.built[t]; name != "" {
		return name, nil
	}
	name := filepath.Join(r.work, t.String(), t.program())
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath",
		"-tags", "urfave_cli_no_docs", // the program leaves its manual to a build of its own
		"-ldflags", "-s -w -X github.com/readthru/readthru/internal/releases.stamped="+r.version, "-o", name,
		"./cmd/readthru")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build for %s: %w\n%s", t, err, out)
	}
	r.built[t] = name
	return name, nil
}

// file is a file of an archive, a package or an image.
type file struct {
	name string // slash-separated, relative
	from string // on this machine
	mode int64
}

// files are what an archive holds.
func (r *release) files(ctx context.Context, t target) ([]file, error) {
	name, err := r.build(ctx, t)
	if err != nil {
		return nil, err
	}
	beside, err := r.beside(ctx)
	return append([]file{{t.program(), name, 0o755}}, beside...), err
}

// completions are the shells, and the names under which they look for completions.
var completions = [][2]string{
	{"bash", "completions/readthru.bash"},
	{"zsh", "completions/_readthru"},
	{"fish", "completions/readthru.fish"},
	{"powershell", "completions/readthru.ps1"},
}

// beside returns what goes beside the program in every archive: texts, the manual and completions.
func (r *release) beside(ctx context.Context) ([]file, error) {
	if r.texts != nil {
		return r.texts, nil
	}
	list := []file{
		{"LICENSE", "LICENSE", 0o644},
		{"NOTICE", "NOTICE", 0o644},
		{"README.md", "README.md", 0o644},
		{"CHANGELOG.md", "CHANGELOG.md", 0o644},
		{"config.example.yaml", "config.example.yaml", 0o644},
	}
	add := func(name string, args ...string) error {
		text, err := output(ctx, "go", args...)
		if err != nil {
			return err
		}
		from := filepath.Join(r.work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			return err
		}
		list = append(list, file{name, from, 0o644})
		return os.WriteFile(from, []byte(text+"\n"), 0o644) //nolint:gosec // everybody reads it
	}
	if err := add("readthru.1", "run", "-tags", "man", "./cmd/readthru", "man"); err != nil {
		return nil, err
	}
	for _, c := range completions {
		if err := add(c[1], "run", "./cmd/readthru", "completion", c[0]); err != nil {
			return nil, err
		}
	}
	r.texts = list
	return list, nil
}

//go:embed nfpm.yaml
var packageConfig string

// systemPackage makes a package by nfpm.
func (r *release) systemPackage(ctx context.Context, t target, kind, name string) error {
	files, err := r.files(ctx, t)
	if err != nil {
		return err
	}
	from := map[string]string{}
	for _, f := range files {
		from[f.name] = f.from
	}
	var config bytes.Buffer
	err = template.Must(template.New("").Parse(packageConfig)).Execute(&config, map[string]any{
		"Arch": t.arch, "Version": r.number, "Home": releases.Home, "Summary": summary, "From": from,
		"Time": r.time.Format("2006-01-02T15:04:05Z"),
	})
	if err != nil {
		return err
	}
	written := filepath.Join(r.work, "nfpm-"+t.arch+".yaml")
	if err := os.WriteFile(written, config.Bytes(), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=tools/nfpm.mod", "nfpm", "package", "--config", written,
		"--packager", kind, "--target", name)
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
