package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"readthru/certs"
)

func (p *program) caCommand() *cli.Command {
	return &cli.Command{
		Name:  "ca",
		Usage: "manage the authority that signs for intercepted hosts",
		Subcommands: []*cli.Command{
			{Name: "path", Usage: "print the certificate's file name", Action: p.withAuthority(func(a *certs.Authority) error {
				_, err := fmt.Fprintln(p.out, a.CertFile())
				return err
			})},
			{Name: "print", Usage: "print the certificate", Action: p.withAuthority(func(a *certs.Authority) error {
				_, err := p.out.Write(a.PEM())
				return err
			})},
			{
				Name: "install", Usage: "make this system trust the authority",
				Action: func(c *cli.Context) error {
					return p.withAuthority(func(a *certs.Authority) error {
						err := p.changeTrust("install the authority", a.Install)
						p.forgetRejections(c.Context)
						return err
					})(c)
				},
			},
			{
				Name: "uninstall", Usage: "make this system stop trusting the authority",
				Action: p.withAuthority(func(a *certs.Authority) error {
					return p.changeTrust("uninstall the authority", a.Uninstall)
				}),
			},
			{Name: "renew", Usage: "create a new authority; the old one is kept beside it", Action: p.renewAuthority},
		},
	}
}

// withAuthority is the action of a command that opens the authority.
func (p *program) withAuthority(do func(*certs.Authority) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		s, err := p.loadAlone(c)
		if err != nil {
			return err
		}
		a, err := openAuthority(s)
		if err != nil {
			return err
		}
		return do(a)
	}
}

func openAuthority(s *settings) (*certs.Authority, error) {
	if err := makeDataDir(s.dataDir); err != nil {
		return nil, err
	}
	a, err := certs.Open(certs.Options{Dir: filepath.Join(s.dataDir, "ca")})
	if err != nil {
		return nil, fmt.Errorf("open the authority: %w", err)
	}
	return a, nil
}

// changeTrust changes trust stores and prints what was done in each.
func (p *program) changeTrust(what string, change func() ([]string, error)) error {
	notes, err := change()
	for _, n := range notes {
		p.note("%s", n)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (p *program) renewAuthority(c *cli.Context) error {
	return p.withAuthority(func(a *certs.Authority) error {
		if err := a.Renew(); err != nil {
			return fmt.Errorf("renew the authority: %w", err)
		}
		p.note("created a new authority: run \"readthru ca install\" again if the old one was installed")
		s, err := p.load()
		if err != nil {
			return err
		}
		if findDaemon(c.Context, s.dataDir) != nil {
			p.note("restart the daemon: it still signs with the old authority")
		}
		_, err = fmt.Fprintln(p.out, a.CertFile())
		return err
	})(c)
}
