package watch

import (
	"cmp"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// trustText says whether a trust store has the authority.
func trustText(t api.Trust) string {
	if t.State == api.TrustUnknown {
		return "could not look: " + t.Reason
	}
	return t.State
}

// systemCommand is the command system: the authority and who trusts it, agents, models, the store, and the end of the
// log.
func (p *program) systemCommand() *cli.Command {
	return &cli.Command{
		Name: "system", Usage: "show what the daemon stores, its authority, agents, models and the end of its log",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			return command.Show(p.Program, c, func(b *api.Client) (*api.System, error) { return b.System(c.Context) },
				func(sys *api.System) error {
					var rows [][]string
					add := func(kind, name, is string) { rows = append(rows, []string{kind, name, is}) }
					if a := sys.Authority; a != nil {
						add("authority", a.Name, "until "+terminal.Day(a.Until)+", SHA-256 "+a.Fingerprint)
						for _, t := range a.Trust {
							add("trust", t.Store, trustText(t))
						}
					}
					for _, a := range sys.Agents {
						add("agent", a.Title, cmp.Or(a.Error, "set up: "+a.State))
					}
					for _, m := range sys.Models {
						add("model", m.Use, m.Service+" "+m.Model)
					}
					for _, s := range sys.Storage {
						add("stored", s.Name, fmt.Sprintf("%d KiB in %d files", (s.Bytes+1023)/1024, s.Files))
					}
					for _, l := range sys.Log {
						add("log", "", l)
					}
					return p.Table([]string{"KIND", "NAME", "STATE"}, rows)
				})
		},
	}
}
