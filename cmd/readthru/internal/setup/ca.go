package setup

import (
	"cmp"
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/store"
)

// caCommand is the command ca: the certificate authority that signs for intercepted hosts, and who trusts it.
func (p *program) caCommand() *cli.Command {
	return &cli.Command{
		Name:  "ca",
		Usage: "manage the authority that signs for intercepted hosts",
		Subcommands: []*cli.Command{
			{
				Name: "path", Usage: "print the certificate's file name", Flags: []cli.Flag{command.JSONFlag()},
				Action: p.withAuthority(p.printAuthorityPath),
			},
			{
				Name: "print", Usage: "print the certificate", Flags: []cli.Flag{command.JSONFlag()},
				Action: p.withAuthority(func(c *cli.Context, a *certs.Authority) error {
					if c.Bool("json") {
						return p.PrintJSON(struct {
							File string `json:"file"`
							PEM  string `json:"pem"`
						}{a.CertFile(), string(a.PEM())})
					}
					return p.Print(string(a.PEM()))
				}),
			},
			{
				Name: "install", Usage: "make this system trust the authority", Flags: []cli.Flag{dryRunFlag(), command.JSONFlag()},
				Action: p.installAuthority,
			},
			{
				Name: "uninstall", Usage: "make this system stop trusting the authority",
				Flags:  []cli.Flag{dryRunFlag(), command.JSONFlag()},
				Action: p.uninstallAuthority,
			},
			{
				Name: "renew", Usage: "create a new authority; the old one is kept beside it",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: p.withAuthority(p.renewAuthority),
			},
		},
	}
}

// withAuthority is the action of a command that opens the authority.
func (p *program) withAuthority(do func(*cli.Context, *certs.Authority) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		s, err := p.LoadAlone(c)
		if err != nil {
			return err
		}
		a, err := settings.OpenAuthority(s)
		if err != nil {
			return err
		}
		return do(c, a)
	}
}

func dryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Usage: "say what would change, and change nothing"}
}

// installAuthority adds the authority to the trust stores of this system. Hosts whose certificate a client rejected are
// tried again afterwards.
func (p *program) installAuthority(c *cli.Context) error {
	s, err := p.LoadAlone(c)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") && !certs.Exist(settings.AuthorityDir(s)) { // opening it would make one
		return p.changeTrust(c, "", func() ([]string, error) {
			return []string{"would create an authority in " + settings.AuthorityDir(s), "would add to " + certs.SystemStore}, nil
		})
	}
	a, err := settings.OpenAuthority(s)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return p.changeTrust(c, "", func() ([]string, error) { return wouldTrust(a.Trust(c.Context)), nil })
	}
	err = p.changeTrust(c, "install the authority", a.Install)
	p.forgetRejections(c.Context)
	return err
}

// wouldTrust says what an installation would do in each trust store.
func wouldTrust(stores []certs.Trust) (notes []string) {
	for _, t := range stores {
		switch {
		case t.Err != nil:
			notes = append(notes, fmt.Sprintf("cannot tell what is in %s: %s", t.Store, t.Err))
		case t.Has:
			notes = append(notes, "would leave "+t.Store+" as it is: it has the authority")
		default:
			notes = append(notes, "would add to "+t.Store)
		}
	}
	return notes
}

// uninstallAuthority removes the authority from all trust stores that have it; its files stay.
func (p *program) uninstallAuthority(c *cli.Context) error {
	s, err := p.LoadAlone(c)
	if err != nil {
		return err
	}
	if !certs.Exist(settings.AuthorityDir(s)) { // opening it would make one
		return p.changeTrust(c, "", func() ([]string, error) { return []string{"there is no authority"}, nil })
	}
	a, err := settings.OpenAuthority(s)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return p.changeTrust(c, "", func() (notes []string, err error) {
			for _, store := range a.Trusting(c.Context) {
				notes = append(notes, "would remove from "+store)
			}
			if notes == nil {
				notes = []string{"no trust store has the authority"}
			}
			return notes, nil
		})
	}
	return p.changeTrust(c, "uninstall the authority", a.Uninstall)
}

// changeTrust changes trust stores and prints what was done in each.
func (p *program) changeTrust(c *cli.Context, what string, change func() ([]string, error)) error {
	notes, err := change()
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	if c.Bool("json") {
		if notes == nil {
			notes = []string{}
		}
		return cmp.Or(p.PrintJSON(struct {
			Done []string `json:"done"`
		}{notes}), err)
	}
	for _, n := range notes {
		p.Note("%s", n)
	}
	return err
}

// printAuthorityPath prints the name of the file of the authority's certificate.
func (p *program) printAuthorityPath(c *cli.Context, a *certs.Authority) error {
	if c.Bool("json") {
		return p.PrintJSON(struct {
			File string `json:"file"`
		}{a.CertFile()})
	}
	return p.Print(a.CertFile() + "\n")
}

// renewAuthority makes a new authority. A daemon that runs signs with the old one until it is started again: one that a
// command started is stopped, and another's owner is told.
func (p *program) renewAuthority(c *cli.Context, a *certs.Authority) error {
	if err := a.Renew(); err != nil {
		return fmt.Errorf("renew the authority: %w", err)
	}
	p.Note("created a new authority: run \"readthru ca install\" again if the old one was installed")
	s, err := p.Load()
	if err != nil {
		return err
	}
	if d := daemon.Find(c.Context, s.DataDir); d != nil {
		stopped := false
		if d.Made != "" { // the next command starts another
			if stopped, err = daemon.Stop(c.Context, s.DataDir, d, true); err != nil {
				return err
			}
		}
		if !stopped {
			p.Note("restart the daemon: it still signs with the old authority")
		}
	}
	return p.printAuthorityPath(c, a)
}

// forgetRejections forgets which clients rejected our certificate, because they may trust it now.
func (p *program) forgetRejections(ctx context.Context) {
	err := p.WithClient(ctx, func(b *api.Client) error {
		gone, err := b.ForgetHosts(ctx, store.RejectsCA)
		if err == nil && gone.Removed > 0 {
			p.Note("forgot %s of our certificate: those clients are intercepted again",
				terminal.Count(gone.Removed, "rejection"))
		}
		return err
	})
	if err != nil {
		p.Note("warning: clients that rejected our certificate are not forgotten: %s", err)
	}
}
