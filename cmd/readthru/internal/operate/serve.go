package operate

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
)

// serveCommand is the command serve: the daemon in the foreground. Its flags override keys of the configuration.
func (p *program) serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run the daemon with its proxy and admin port",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "the proxy's `ADDRESS` (proxy.listen)"},
			&cli.StringFlag{Name: "admin", Usage: "the admin port's `ADDRESS` (admin.listen)"},
			&cli.BoolFlag{Name: "offline", Usage: "answer from what is stored and ask no origin"},
			&cli.BoolFlag{
				Name: "proxy-from-env",
				Usage: "connect through the proxy that HTTPS_PROXY or HTTP_PROXY names, but to what NO_PROXY names " +
					"directly, unless proxy.upstream is set",
			},
			&cli.DurationFlag{Name: "idle", Usage: "end when the daemon was not used for `DURATION`", DefaultText: "never"},
			&cli.BoolFlag{Name: "detached", Hidden: true}, // see startShared
			&cli.StringFlag{Name: "pprof", Usage: "answer with profiles of the daemon on this loopback `ADDRESS`"},
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			var flags []settings.Set
			if c.IsSet("listen") {
				flags = append(flags, settings.Set{Path: "proxy.listen", Flag: "listen", Value: c.String("listen")})
			}
			if c.IsSet("admin") {
				flags = append(flags, settings.Set{Path: "admin.listen", Flag: "admin", Value: c.String("admin")})
			}
			s, err := p.Load(flags...)
			if err != nil {
				return err
			}
			if c.Bool("proxy-from-env") && s.Proxy.Upstream == "" {
				flags = append(flags, settings.Set{Path: "proxy.upstream", Flag: "proxy-from-env", Value: s.EnvironmentProxy("")})
				if len(s.Proxy.Direct) == 0 {
					flags = append(flags, settings.Set{
						Path: "proxy.direct", Flag: "proxy-from-env",
						Value: strings.Join(settings.EnvironmentDirect(), ","),
					})
				}
				if s, err = p.Load(flags...); err != nil {
					return err
				}
			}
			profiles := c.String("pprof")
			if c.IsSet("pprof") && !settings.Loopback(profiles) {
				return terminal.Usagef("--pprof: %q is not a loopback address such as 127.0.0.1:6060", profiles)
			}
			how := wiring.Serving{
				Std: p.Streams, Ignores: p.Ignores,
				Offline: c.Bool("offline"), Idle: c.Duration("idle"), Profiles: profiles,
				Load: func() (*settings.Settings, error) { return p.Load(flags...) },
			}
			if c.Bool("detached") {
				return wiring.ServeDetached(c.Context, s, how)
			}
			return wiring.Serve(c.Context, s, how)
		},
	}
}
