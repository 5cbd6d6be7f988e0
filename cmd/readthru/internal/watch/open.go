package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cli/browser"
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/wholefile"
)

// roomName is what may be the name of a room of the dashboard, which stands for its path.
var roomName = lazy.Pattern(`^[a-z][a-z-]*$`)

// openCommand is the command open: it prints a link that signs one browser in to the dashboard, and unless --print is
// given opens it. It needs a daemon that runs.
func (p *program) openCommand() *cli.Command {
	return &cli.Command{
		Name:      "open",
		Usage:     "open the dashboard in a browser, signed in",
		ArgsUsage: "[PAGE]",
		Description: "PAGE is a path of the admin port, or the name of a room, as requests. The dashboard answers " +
			"the user\nthat readthru runs as, and nobody else.\nThe command prints a link that signs one browser in, within a " +
			"minute; the browser stays\nsigned in for twelve hours, or until the token is another.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "print", Usage: "print the link and start no browser"}, command.JSONFlag()},
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) > 1 {
				return terminal.Usagef("want one PAGE at most")
			}
			s, err := p.Load()
			if err != nil {
				return err
			}
			d := daemon.Find(c.Context, s.DataDir)
			if d == nil {
				return terminal.WithHint(errors.New("no daemon runs"), "start one with \"readthru serve\"")
			}
			page := cmp.Or(c.Args().First(), "/")
			if roomName().MatchString(page) {
				page = "/" + page
			}
			client := api.NewClient(d.Admin, d.Token, daemon.UserAgent)
			defer client.Close()
			link, err := client.SigninLink(c.Context, page)
			if err != nil {
				return err
			}
			site := "http://" + d.Admin
			if c.Bool("json") {
				return p.PrintJSON(map[string]any{"url": site + link.Path, "expires_s": link.ExpiresS})
			}
			if _, err := fmt.Fprintln(p.Out, site+link.Path); err != nil || c.Bool("print") {
				return err
			}
			return p.startBrowser(c.Context, s, d, page)
		},
	}
}

// startBrowser opens a page of the admin port in a browser. Other users see the arguments of a browser, so a link that
// signs in never is among them: where the browser needs one, it stands in a file for this user only.
func (p *program) startBrowser(ctx context.Context, s *settings.Settings, d *daemon.Info, page string) error {
	target := "http://" + d.Admin + page
	stranger := api.NewClient(d.Admin, "", daemon.UserAgent)
	defer stranger.Close()
	if _, err := stranger.Stats(ctx); api.CodeOf(err) == api.CodeUnauthorized {
		client := api.NewClient(d.Admin, d.Token, daemon.UserAgent)
		defer client.Close()
		link, err := client.SigninLink(ctx, page)
		if err != nil {
			return err
		}
		name := filepath.Join(s.DataDir, "open.html")
		err = wholefile.WriteFrom(name, func(f *os.File) error {
			_, err := fmt.Fprintf(f, "<!doctype html><meta http-equiv=refresh content=\"0; url=http://%s%s\">\n", d.Admin,
				link.Path)
			return err
		})
		if err != nil {
			return err
		}
		target = "file://" + filepath.ToSlash(name)
	}
	browser.Stdout, browser.Stderr = p.Err, p.Err
	if err := browser.OpenURL(target); err != nil {
		p.Note("no browser could be started (%s): open the link in one within a minute", err)
	}
	return nil
}
