package operate

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
)

// stopCommand is the command stop. It first waits for a daemon that another command is starting, which could not be
// found before.
func (p *program) stopCommand() *cli.Command {
	return &cli.Command{
		Name:  "stop",
		Usage: "stop the daemon of the data directory, and wait until it has ended",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			s, err := p.LoadAlone(c)
			if err != nil {
				return err
			}
			type result struct {
				Stopped bool `json:"stopped"`
				PID     int  `json:"pid,omitempty"`
			}
			// one that starts can be found then
			if unlock, err := daemon.LockStart(c.Context, s.DataDir, func() {}); err == nil {
				unlock()
			}
			d := daemon.Find(c.Context, s.DataDir)
			if d == nil {
				return p.Done(c, result{}, "no daemon runs")
			}
			if _, err := daemon.Stop(c.Context, s.DataDir, d, false); err != nil {
				return err
			}
			return p.Done(c, result{true, d.PID}, "stopped process %d", d.PID)
		},
	}
}
