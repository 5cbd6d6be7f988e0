package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cli/browser"
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/wholefile"
)

// adminToken returns the token of the admin port: the configured one, else that of the data directory, which exists.
func adminToken(s *settings) (string, error) {
	if s.Admin.Token != "" {
		return s.Admin.Token, nil
	}
	token, err := keptToken(s.dataDir)
	if err != nil {
		return "", fmt.Errorf("the token of the admin port: %w", err)
	}
	return token, nil
}

// tokenLength is how long the tokens that we make are.
var tokenLength = len(rand.Text())

// keptToken returns the token in a file of the data directory. The first use creates the file. A token that others
// could read, or that is not whole, is replaced.
func keptToken(dir string) (string, error) {
	name := filepath.Join(dir, "token")
	for range 3 { // another process may do the same
		token, err := readToken(name)
		if token != "" || err != nil {
			return token, err
		}
		token = rand.Text()
		aside, err := wholefile.Beside(name, []byte(token+"\n"))
		if err != nil {
			return "", err
		}
		err = os.Link(aside, name) // which leaves a file that is there already as it is
		if errors.Is(err, errors.ErrUnsupported) {
			err = os.Rename(aside, name)
		}
		_ = os.Remove(aside) // a file that stays does no harm
		if err == nil {
			return token, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s changes all the time", name)
}

// readToken returns the token in a file, or "" if there is none. It removes a file that has none to use.
func readToken(name string) (string, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if len(token) == tokenLength && info.Mode().IsRegular() &&
		(runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0) { // Windows keeps no such bits
		return token, nil
	}
	return "", os.Remove(name)
}

func (p *program) tokenCommand() *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "print the token of the admin port",
		Description: "Clients that are not programs of your user on this machine send it: \"Authorization: Bearer " +
			"TOKEN\". readthru's own commands\nuse it by themselves.",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c.Args().Slice()); err != nil {
				return err
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			if err := makeDataDir(s.dataDir); err != nil {
				return err
			}
			var token string
			if d := findDaemon(c.Context, s.dataDir); d != nil {
				token = d.Token // its configuration may be another
			} else if token, err = adminToken(s); err != nil {
				return err
			}
			if c.Bool("json") {
				return p.printJSON(map[string]string{"token": token})
			}
			_, err = fmt.Fprintln(p.out, token)
			return err
		},
	}
}

func (p *program) openCommand() *cli.Command {
	return &cli.Command{
		Name:      "open",
		Usage:     "open the dashboard in a browser, signed in",
		ArgsUsage: "[PAGE]",
		Description: "PAGE is a path of the admin port. The command prints a link that signs one browser in, within a " +
			"minute; the browser stays\nsigned in for twelve hours, or until the token is another.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "print", Usage: "print the link and start no browser"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) > 1 {
				return usagef("want one PAGE at most")
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			d := findDaemon(c.Context, s.dataDir)
			if d == nil {
				return withHint(errors.New("no daemon runs"), "start one with \"readthru serve\"")
			}
			page := cmp.Or(c.Args().First(), "/")
			client := api.NewClient(d.Admin, d.Token, agentName)
			defer client.Close()
			link, err := client.SigninLink(c.Context, page)
			if err != nil {
				return err
			}
			site := "http://" + d.Admin
			if c.Bool("json") {
				return p.printJSON(map[string]any{"url": site + link.Path, "expires_s": link.ExpiresS})
			}
			if _, err := fmt.Fprintln(p.out, site+link.Path); err != nil || c.Bool("print") {
				return err
			}
			return p.startBrowser(c.Context, s, d, page)
		},
	}
}

// startBrowser opens a page of the admin port in a browser. Other users see the arguments of a browser, so a link that
// signs in never is among them: where the browser needs one, it stands in a file for this user only.
func (p *program) startBrowser(ctx context.Context, s *settings, d *daemonInfo, page string) error {
	target := "http://" + d.Admin + page
	stranger := api.NewClient(d.Admin, "", agentName)
	defer stranger.Close()
	if _, err := stranger.Stats(ctx); api.CodeOf(err) == api.CodeUnauthorized {
		client := api.NewClient(d.Admin, d.Token, agentName)
		defer client.Close()
		link, err := client.SigninLink(ctx, page)
		if err != nil {
			return err
		}
		name := filepath.Join(s.dataDir, "open.html")
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
	browser.Stdout, browser.Stderr = p.err, p.err
	if err := browser.OpenURL(target); err != nil {
		p.note("no browser could be started (%s): open the link in one within a minute", err)
	}
	return nil
}
