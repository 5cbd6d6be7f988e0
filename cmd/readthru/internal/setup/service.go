package setup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/service"
)

// serviceCommand is the command service: the system's own manager (systemd, launchd, Task Scheduler) keeps the daemon
// running.
func (p *program) serviceCommand() *cli.Command {
	return &cli.Command{
		Name:  "service",
		Usage: "have the system keep the daemon running, and see how to upgrade it",
		Subcommands: []*cli.Command{
			{
				Name: "install", Usage: "start the daemon now, at every login, and again when it fails",
				Flags: stepFlags(), Action: p.installService,
			},
			{
				Name: "status", Usage: "print whether the service is installed and runs", Flags: []cli.Flag{command.JSONFlag()},
				Action: p.serviceStatus,
			},
			{
				Name: "logs", Usage: "print the end of the daemon's log",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "and what is added to it"}},
				Action: p.serviceLogs,
			},
			{Name: "restart", Usage: "restart the daemon", Action: p.restartService},
			{
				Name: "uninstall", Usage: "end the daemon and remove the service", Flags: stepFlags(),
				Action: p.uninstallService,
			},
			p.upgradeCommand(),
		},
	}
}

// stepFlags are the flags of commands that show steps and then take them.
func stepFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "show the steps and take none"},
		&cli.BoolFlag{Name: "yes", Usage: "take them without asking"},
		command.JSONFlag(),
	}
}

// installService shows the steps that install the service, and takes them. It refuses if a person has edited the
// definition. A daemon that runs without the service gives way to it if a command started it and no other uses it; else
// it is an error.
func (p *program) installService(c *cli.Context) error {
	s, m, err := p.forService(c)
	if err != nil {
		return err
	}
	d, err := serviceDaemon(s)
	if err != nil {
		return err
	}
	if !c.Bool("dry-run") {
		if err := settings.MakeDataDir(s.DataDir); err != nil {
			return err
		}
	}
	if err := keepEdits(m); err != nil {
		return err
	}
	installed := service.Installed(m)
	done, err := p.take(c, m.Install(d, installed), func() error { return p.makeWay(c.Context, s, installed) })
	if err != nil || !done {
		return err
	}
	p.noteService(s, m)
	return nil
}

// keepEdits returns an error if an installation would lose what a person wrote into the manager's files.
func keepEdits(m service.Manager) error {
	if err := service.CheckUnchanged(m); err != nil {
		return terminal.WithHint(fmt.Errorf("install the service: %w", err),
			`move the change into a drop-in ("systemctl --user edit readthru.service"), remove the file and run this again`)
	}
	return nil
}

// serviceDaemon returns the daemon that a manager keeps running.
func serviceDaemon(s *settings.Settings) (service.Daemon, error) {
	line, err := serveCommandLine(s)
	return service.Daemon{
		Command: line, Listen: []string{s.Proxy.Listen, s.Admin.Listen}, Log: daemon.LogFile(s.DataDir),
	}, err
}

// noteService says what was installed, and which values it does not see.
func (p *program) noteService(s *settings.Settings, m service.Manager) {
	for _, key := range slices.Sorted(maps.Keys(s.Source)) {
		name, ok := strings.CutPrefix(s.Source[key], "environment ")
		if ok && key != "data_dir" && key != "config" {
			p.Note("warning: the service does not see %s of the environment: set %s in the configuration", name, key)
		}
	}
	if s.UpstreamAdvice() != "" {
		p.Note("warning: the service does not see HTTPS_PROXY and HTTP_PROXY of this environment: " +
			"set proxy.upstream in the configuration")
	}
	p.Note("%s keeps the daemon running: proxy on %s, admin on %s", m.Name(), s.Proxy.Listen, s.Admin.Listen)
}

// serveCommandLine returns the command that the manager runs. It names the data directory and the configuration,
// because the manager's environment is not this one.
func serveCommandLine(s *settings.Settings) ([]string, error) {
	program, err := agentsetup.ThisProgram()
	if err != nil {
		return nil, err
	}
	line := []string{program, "--data-dir", s.DataDir}
	if s.ConfigFile != "" {
		name, err := filepath.Abs(s.ConfigFile)
		if err != nil {
			return nil, err
		}
		line = append(line, "--config", name)
	}
	return append(line, "serve"), nil
}

// makeWay ends a daemon that a command started, and returns an error if another one runs: the service's would find the
// store in use. The steps that replace an installed service end its daemon.
func (p *program) makeWay(ctx context.Context, s *settings.Settings, installed bool) error {
	d := daemon.Find(ctx, s.DataDir)
	if d == nil || installed {
		return nil
	}
	if d.Made != "" {
		if stopped, err := daemon.Stop(ctx, s.DataDir, d, true); stopped || err != nil {
			return err
		}
	}
	return terminal.WithHint(fmt.Errorf("a daemon runs already, process %d", d.PID), "end it with \"readthru stop\"")
}

// uninstallService ends the daemon and removes the service; the data directory stays.
func (p *program) uninstallService(c *cli.Context) error {
	_, m, err := p.forService(c)
	if err != nil {
		return err
	}
	if !service.Installed(m) {
		p.Note("the service is not installed")
		return nil
	}
	done, err := p.take(c, m.Uninstall(), nil)
	if done && err == nil {
		p.Note("removed the service; the data directory stays")
	}
	return err
}

// take shows steps and takes them if the user agrees, after what must be done first. It reports whether it took them.
func (p *program) take(c *cli.Context, steps []service.Step, first func() error) (done bool, err error) {
	if c.Bool("json") {
		if err := p.PrintJSON(map[string]any{"steps": steps}); err != nil {
			return false, err
		}
	} else {
		for _, step := range steps {
			if err := p.Print(step.String()); err != nil {
				return false, err
			}
		}
	}
	if agreed, err := p.agree(c, "Take these steps?"); !agreed || err != nil {
		return false, err
	}
	if first != nil {
		if err := first(); err != nil {
			return false, err
		}
	}
	for _, step := range steps {
		if err := step.Do(); err != nil {
			return false, terminal.WithHint(err, "mend that and run the command again: it begins anew")
		}
	}
	return true, nil
}

// agree reports whether the user agrees to the steps that were shown: by --yes, or by the answer to a question.
func (p *program) agree(c *cli.Context, question string) (bool, error) {
	switch {
	case c.Bool("dry-run"):
		return false, nil
	case c.Bool("yes"):
		return true, nil
	case !terminal.Is(p.In):
		return false, terminal.WithHint(terminal.Usagef("%s needs confirmation: pass --yes or run it in a terminal",
			command.FullName(c)),
			"--dry-run only shows the steps")
	}
	ask := terminal.NewAsker(p.Streams, false)
	if !ask.Yes(question, false) {
		p.Note("nothing was changed")
		return false, nil
	}
	return true, nil
}

// forService returns the configuration, and the manager that a subcommand without arguments asks.
func (p *program) forService(c *cli.Context) (*settings.Settings, service.Manager, error) {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return nil, nil, err
	}
	s, err := p.Load()
	if err != nil {
		return nil, nil, err
	}
	if c.Bool("dry-run") { // which shows the steps on any machine
		m, err := daemon.ServiceManager(s)
		return s, m, err
	}
	m, err := daemon.ReachableManager(c.Context, s)
	return s, m, err
}

// installedService is forService for subcommands about a service that must be installed.
func (p *program) installedService(c *cli.Context) (*settings.Settings, service.Manager, error) {
	s, m, err := p.forService(c)
	if err == nil && !service.Installed(m) {
		err = terminal.WithHint(errors.New("the service is not installed"), "install it with \"readthru service install\"")
	}
	return s, m, err
}

// serviceStatus prints whether the service is installed, whether the manager says that it runs, and where the daemon
// listens.
func (p *program) serviceStatus(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	s, err := p.Load()
	if err != nil {
		return err
	}
	m, err := daemon.ServiceManager(s)
	if err != nil {
		return err
	}
	st := struct {
		Manager   string   `json:"manager"`
		Installed bool     `json:"installed"`
		Files     []string `json:"files"`
		Active    bool     `json:"active"` // the manager says that it runs
		PID       int      `json:"pid,omitempty"`
		Proxy     string   `json:"proxy,omitempty"`
		Admin     string   `json:"admin,omitempty"`
	}{Manager: m.Name(), Installed: service.Installed(m), Files: m.Files()}
	if st.Installed {
		status := m.Status()
		st.Active = exec.CommandContext(c.Context, status[0], status[1:]...).Run() == nil
	}
	if d := daemon.Find(c.Context, s.DataDir); d != nil {
		st.PID, st.Proxy, st.Admin = d.PID, d.Proxy, d.Admin
	}
	if c.Bool("json") {
		return p.PrintJSON(st)
	}
	state := "not installed: see \"readthru service install\""
	switch {
	case st.Installed && st.Active:
		state = "installed, active"
	case st.Installed:
		state = "installed, not active: see \"readthru service logs\""
	}
	text := fmt.Sprintf("service  %s, %s\n", st.Manager, state)
	if st.PID != 0 {
		text += fmt.Sprintf("daemon   process %d, proxy on %s, admin on %s\n", st.PID, st.Proxy, st.Admin)
	} else {
		text += "daemon   none runs\n"
	}
	return p.Print(text)
}

// serviceLogs prints the end of the daemon's log by the means of the service manager.
func (p *program) serviceLogs(c *cli.Context) error {
	s, m, err := p.installedService(c)
	if err != nil {
		return err
	}
	return p.through(c.Context, m.Logs(daemon.LogFile(s.DataDir), c.Bool("follow")))
}

// restartService has the service manager restart the daemon.
func (p *program) restartService(c *cli.Context) error {
	_, m, err := p.installedService(c)
	if err != nil {
		return err
	}
	return p.through(c.Context, m.Restart())
}

// through runs a program with our input and output.
func (p *program) through(ctx context.Context, line []string) error {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", line[0], err)
	}
	return nil
}
