package main

import (
	"github.com/urfave/cli/v2"
)

func (p *program) stopCommand() *cli.Command {
	return &cli.Command{
		Name:  "stop",
		Usage: "stop the daemon of the data directory, and wait until it has ended",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			s, err := p.loadAlone(c)
			if err != nil {
				return err
			}
			type result struct {
				Stopped bool `json:"stopped"`
				PID     int  `json:"pid,omitempty"`
			}
			if unlock, err := lockStart(c.Context, s.dataDir, func() {}); err == nil { // one that starts can be found then
				unlock()
			}
			d := findDaemon(c.Context, s.dataDir)
			if d == nil {
				return p.done(c, result{}, "no daemon runs")
			}
			if _, err := stopDaemon(c.Context, s.dataDir, d, false); err != nil {
				return err
			}
			return p.done(c, result{true, d.PID}, "stopped process %d", d.PID)
		},
	}
}
