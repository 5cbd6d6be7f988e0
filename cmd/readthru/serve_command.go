package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

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
			if err := noArgs(c.Args().Slice()); err != nil {
				return err
			}
			var flags []set
			if c.IsSet("listen") {
				flags = append(flags, set{path: "proxy.listen", flag: "listen", value: c.String("listen")})
			}
			if c.IsSet("admin") {
				flags = append(flags, set{path: "admin.listen", flag: "admin", value: c.String("admin")})
			}
			s, err := p.load(flags...)
			if err != nil {
				return err
			}
			if c.Bool("proxy-from-env") && s.Proxy.Upstream == "" {
				flags = append(flags, set{path: "proxy.upstream", flag: "proxy-from-env", value: s.environmentProxy("")})
				if len(s.Proxy.Direct) == 0 {
					flags = append(flags, set{path: "proxy.direct", flag: "proxy-from-env", value: strings.Join(environmentDirect(), ",")})
				}
				if s, err = p.load(flags...); err != nil {
					return err
				}
			}
			profiles := c.String("pprof")
			if c.IsSet("pprof") && !loopback(profiles) {
				return usagef("--pprof: %q is not a loopback address such as 127.0.0.1:6060", profiles)
			}
			how := serving{
				std: p.stdio, ignores: p.ignores,
				offline: c.Bool("offline"), idle: c.Duration("idle"), profiles: profiles,
				load: func() (*settings, error) { return p.load(flags...) },
			}
			if c.Bool("detached") {
				return serveDetached(c.Context, s, how)
			}
			return serve(c.Context, s, how)
		},
	}
}
