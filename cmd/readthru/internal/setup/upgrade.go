package setup

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/internal/service"
	"github.com/readthru/readthru/internal/transport"
)

// askTime is how long the address of releases may take.
const askTime = 30 * time.Second

// upgradeCommand is the command upgrade; see upgrade.
func (p *program) upgradeCommand() *cli.Command {
	return &cli.Command{
		Name:  "upgrade",
		Usage: "print how to upgrade this program, which depends on how it was installed",
		Description: "Nothing is asked or changed without --check, which asks " + releases.Home +
			" for the latest release, through the configured upstream proxy. Readthru never asks by itself.",
		Flags: []cli.Flag{
			command.JSONFlag(), &cli.BoolFlag{Name: "check", Usage: "ask for the latest release"},
		},
		Action: p.upgrade,
	}
}

// upgrade prints how this program, as it was installed, is upgraded. With --check it asks for the latest release;
// without, it sends nothing.
func (p *program) upgrade(c *cli.Context) error {
	s, err := p.LoadAlone(c)
	if err != nil {
		return err
	}
	st := struct {
		Version string   `json:"version"`
		Latest  string   `json:"latest,omitempty"`
		Newer   *bool    `json:"newer,omitempty"` // absent if it is not known
		By      string   `json:"installed_by"`
		Upgrade []string `json:"upgrade"` // what to do, line by line
		Page    string   `json:"page,omitempty"`
	}{Version: releases.Version}
	if c.Bool("check") {
		if st.Latest, err = latestRelease(c.Context, s); err != nil {
			return err
		}
		st.Page = releases.Page(st.Latest)
		if newer, known := releases.Newer(st.Latest, st.Version); known {
			st.Newer = &newer
		}
	}
	self, err := agentsetup.ThisProgram()
	if err != nil {
		return err
	}
	st.By, st.Upgrade = upgradeOf(installedBy(c.Context, self), self, st.Latest)
	if m, err := daemon.ServiceManager(s); err == nil && service.Installed(m) {
		st.Upgrade = append(st.Upgrade, "readthru service restart")
	}
	if c.Bool("json") {
		return p.PrintJSON(st)
	}
	text := "this is      " + st.Version + ", installed by " + st.By + "\n"
	switch {
	case st.Latest == "":
		text += "latest       not asked: see \"readthru service upgrade --check\"\n"
	case st.Newer == nil:
		text += "latest       " + st.Latest + "; this program was not built from a release\n"
	case *st.Newer:
		text += "latest       " + st.Latest + ", " + st.Page + "\n"
	default:
		return p.Print(text + "latest       " + st.Latest + ": nothing to do\n")
	}
	for i, line := range st.Upgrade {
		lead := "             "
		if i == 0 {
			lead = "to upgrade   "
		}
		text += lead + line + "\n"
	}
	return p.Print(text)
}

// latestRelease asks where releases are published for the newest one, by the same transport as fetches, so that
// upstream proxies and authorities of the configuration apply.
func latestRelease(ctx context.Context, s *settings.Settings) (string, error) {
	t, err := transport.New(transport.Options{
		Resolve: s.Upstream.Resolve, CAFile: s.Upstream.CAFile, Upstream: s.Proxy.Upstream, Direct: s.Proxy.Direct,
		AllowPrivateOwn: s.Fetch.AllowPrivate, UserAgent: s.Fetch.UserAgent,
		Advice: s.UpstreamAdvice(),
	})
	if err != nil {
		return "", terminal.Mistake(err)
	}
	defer t.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(transport.OwnPolicy(ctx), askTime)
	defer cancel()
	latest, err := releases.Latest(ctx, t)
	if err == nil || errors.Is(err, releases.ErrNone) {
		return latest, err
	}
	hint := cmp.Or(s.UpstreamAdvice(), "is this machine offline? \"readthru service upgrade\" alone asks nobody")
	return "", terminal.WithHint(err, hint)
}

// installer is a way in which this program can have come onto a machine.
type installer string

const (
	byDeb      installer = "a .deb package"
	byRPM      installer = "an .rpm package"
	byAPK      installer = "an .apk package"
	byBrew     installer = "Homebrew"
	byScoop    installer = "Scoop"
	byWinget   installer = "winget"
	byImage    installer = "a container image"
	byCheckout installer = "make in a checkout"
	byGo       installer = "go install"
	byArchive  installer = "an archive"
)

// installedBy tells how the program in a file was installed. A file that no package manager owns came from an archive.
func installedBy(ctx context.Context, file string) installer {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		real = file
	}
	slashed := filepath.ToSlash(real)
	switch {
	case strings.Contains(slashed, "/Cellar/readthru/"):
		return byBrew
	case strings.Contains(slashed, "/scoop/apps/readthru/"):
		return byScoop
	case strings.Contains(slashed, "/WinGet/Packages/"):
		return byWinget
	case slashed == "/readthru":
		return byImage
	}
	for _, owner := range []struct {
		by      installer
		command []string
	}{
		{byDeb, []string{"dpkg-query", "-S", real}},
		{byRPM, []string{"rpm", "-qf", real}},
		{byAPK, []string{"apk", "info", "--who-owns", real}},
	} {
		if exec.CommandContext(ctx, owner.command[0], owner.command[1:]...).Run() == nil {
			return owner.by
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(real), "..", "cmd", "readthru")); err == nil {
		return byCheckout
	}
	if !releases.Stamped() && releases.Version != "devel" {
		return byGo
	}
	return byArchive
}

// upgradeOf returns what a way of installing is called, and what to do to get a release, or the latest one if it is "".
func upgradeOf(by installer, file, release string) (name string, lines []string) {
	at := func(name string) string {
		if release == "" {
			return releases.Home + "/releases/latest/download/" + name
		}
		return releases.File(release, name)
	}
	system := runtime.GOOS + "-" + runtime.GOARCH
	get := func(name string) string { return "curl -fLO " + at(name) }
	switch by {
	case byDeb:
		lines = []string{get("readthru-" + system + ".deb"), "sudo apt install ./readthru-" + system + ".deb"}
	case byRPM:
		lines = []string{get("readthru-" + system + ".rpm"), "sudo dnf install ./readthru-" + system + ".rpm"}
	case byAPK:
		lines = []string{
			get("readthru-" + system + ".apk"), "sudo apk add --allow-untrusted ./readthru-" + system + ".apk",
		}
	case byBrew:
		lines = []string{get("readthru.rb"), "brew upgrade --formula ./readthru.rb"}
	case byScoop:
		lines = []string{"scoop uninstall readthru", "scoop install " + at("readthru.scoop.json")}
	case byWinget:
		lines = []string{"winget upgrade readthru"}
	case byImage:
		lines = []string{"replace the container's image: " + at("readthru-image.tar")}
	case byCheckout:
		lines = []string{"git pull && make build"}
	case byGo:
		info, _ := debug.ReadBuildInfo() // it said so
		lines = []string{"go install " + info.Path + "@latest"}
	default:
		archive := "readthru-" + system + ".tar.gz"
		if runtime.GOOS == "windows" {
			archive = "readthru-" + system + ".zip"
		}
		lines = []string{get(archive), get("SHA256SUMS"), "check the archive's sum, unpack it, and replace " + file}
	}
	return string(by), lines
}
