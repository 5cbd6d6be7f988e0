package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/service"
	"github.com/readthru/readthru/store"
)

// uninstallCommand is the command uninstall; see uninstall.
func (p *program) uninstallCommand() *cli.Command {
	return &cli.Command{
		Name:  "uninstall",
		Usage: "undo what setup, service install and ca install did on this machine",
		Description: "It restores agents' settings, removes the service, ends the daemon, and takes the authority out of " +
			"every trust store. It shows the steps first. A step that fails is told, the others are taken, and running it " +
			"again does what is left. The data directory stays without --data, and the program itself always.",
		Flags: append(stepFlags(),
			&cli.BoolFlag{Name: "data", Usage: "delete the data directory, too, with pages, notes and the authority's key"}),
		Action: p.uninstall,
	}
}

// undoing is one thing that uninstall takes back.
type undoing struct {
	What string `json:"what"`
	Show string `json:"show,omitempty"` // what changes, as text

	do func(context.Context) error
}

// uninstall undoes what setup, service install and ca install did to this machine, after showing it and a yes. What
// cannot be undone does not keep the rest from it.
func (p *program) uninstall(c *cli.Context) error {
	s, err := p.LoadAlone(c)
	if err != nil {
		return err
	}
	steps, problems := p.undoings(c.Context, s, c.Bool("data"))
	if c.Bool("json") {
		if err := p.PrintJSON(map[string]any{"steps": slices.Concat([]undoing{}, steps)}); err != nil {
			return err
		}
	} else {
		for _, step := range steps {
			if err := p.Print(step.What + "\n" + step.Show); err != nil {
				return err
			}
		}
	}
	if len(steps) == 0 {
		p.Note("nothing to undo")
		return uninstallError(problems)
	}
	agreed, err := p.agree(c, "Undo all of this?")
	if !agreed || err != nil {
		return errors.Join(err, uninstallError(problems))
	}
	for _, step := range steps {
		if err := step.do(c.Context); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", step.What, err))
			continue
		}
		p.Note("done: %s", step.What)
	}
	if _, err := os.Stat(s.DataDir); err == nil && !c.Bool("data") {
		p.Note("the data directory stays: %s", s.DataDir)
	}
	return uninstallError(problems)
}

// uninstallError joins what could not be undone; nil if nothing is left.
func uninstallError(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	return terminal.WithHint(fmt.Errorf("uninstall: %w", errors.Join(problems...)),
		"all other steps were taken: mend that and run \"readthru uninstall\" again")
}

// undoings returns what there is to undo, in the order in which it is undone: nothing may lead to a daemon that is
// gone. Problems say what cannot be undone.
func (p *program) undoings(ctx context.Context, s *settings.Settings, data bool) (steps []undoing, problems []error) {
	steps, problems = p.agentUndoings(ctx, s)
	if m, err := daemon.ServiceManager(s); err != nil {
		problems = append(problems, err)
	} else if service.Installed(m) {
		steps = append(steps, serviceUndoing(m))
	}
	if d := daemon.Find(ctx, s.DataDir); d != nil {
		steps = append(steps, undoing{
			What: fmt.Sprintf("end the daemon, process %d", d.PID),
			do: func(ctx context.Context) error {
				if d := daemon.Find(ctx, s.DataDir); d != nil { // the service's has ended with it
					_, err := daemon.Stop(ctx, s.DataDir, d, false)
					return err
				}
				return nil
			},
		})
	}
	if certs.Exist(settings.AuthorityDir(s)) {
		if a, err := settings.OpenAuthority(s); err != nil {
			problems = append(problems, err)
		} else if stores := a.Trusting(ctx); len(stores) > 0 {
			steps = append(steps, undoing{
				What: "remove the authority from " + strings.Join(stores, ", "),
				do:   func(context.Context) error { _, err := a.Uninstall(); return err },
			})
		}
	}
	if data {
		switch there, err := ownDirectory(s.DataDir); {
		case err != nil:
			problems = append(problems, err)
		case there:
			steps = append(steps, undoing{
				What: "delete the data directory " + s.DataDir,
				do:   func(ctx context.Context) error { return p.deleteData(ctx, s) },
			})
		}
	}
	return steps, problems
}

// agentUndoings returns what takes the setup of each agent back, in each of its folders that was ever set up.
func (p *program) agentUndoings(ctx context.Context, s *settings.Settings) (steps []undoing, problems []error) {
	done := map[string]bool{}
	add := func(in *agentsetup.Setup) {
		done[in.JournalFile()] = true
		changes, notes, err := in.Removal(ctx)
		if err != nil {
			problems = append(problems, err)
			return
		}
		changes = slices.DeleteFunc(changes, func(c agentsetup.Change) bool { return !c.Changes() })
		_, err = os.Stat(in.JournalFile())
		if len(changes) == 0 && err != nil {
			return
		}
		var show strings.Builder
		for _, n := range notes {
			show.WriteString(n + "\n")
		}
		for _, c := range changes {
			show.WriteString(c.Diff())
		}
		steps = append(steps, undoing{
			What: "restore the settings of " + in.Agent.Title(), Show: show.String(),
			do: func(context.Context) error {
				if err := in.Write(changes, nil); err != nil {
					return err
				}
				return in.Forget()
			},
		})
	}
	for _, a := range agents.All() {
		add(&agentsetup.Setup{Std: p.Streams, Settings: s, Agent: a})
	}
	others, _ := filepath.Glob(filepath.Join(s.DataDir, "setup", "*.json")) // a folder that cannot be read has none
	for _, name := range others {
		agent, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".json"), "-")
		if !done[name] && agents.Known(agents.Agent(agent)) {
			add(&agentsetup.Setup{
				Std: p.Streams, Settings: s, Agent: agents.Agent(agent), Record: name,
			})
		}
	}
	return steps, problems
}

// serviceUndoing is the step of uninstall that removes the service of the daemon.
func serviceUndoing(m service.Manager) undoing {
	var show strings.Builder
	for _, step := range m.Uninstall() {
		show.WriteString("    " + step.String())
	}
	return undoing{What: "remove the service of " + m.Name(), Show: show.String(), do: func(context.Context) error {
		var failed []error
		for _, step := range m.Uninstall() {
			if err := step.Do(); err != nil {
				failed = append(failed, err)
			}
		}
		return errors.Join(failed...)
	}}
}

// ownDirectory reports whether a data directory is there. It is an error if it is not recognised, or holds more than
// ours: the command line may name any directory.
func ownDirectory(dir string) (there bool, err error) {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if home, err := os.UserHomeDir(); err == nil {
		if home, err = filepath.EvalSymlinks(home); err == nil {
			if inside, err := filepath.Rel(real, home); err == nil && filepath.IsLocal(inside) {
				return false, fmt.Errorf("%s is not deleted: it contains the home directory", dir)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(real, "store")); err == nil || certs.Exist(filepath.Join(real, "ca")) {
		return true, nil
	}
	entries, err := os.ReadDir(real)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not deleted: it has no store and no authority of readthru", dir)
	}
	return err == nil, err
}

// deleteData deletes the data directory when no process has its store open any more.
func (p *program) deleteData(ctx context.Context, s *settings.Settings) error {
	dir, err := filepath.EvalSymlinks(s.DataDir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "store")); err == nil {
		err := daemon.AwaitStore(ctx, dir, p.Note, func() error { //nolint:contextcheck // opening the store takes none
			st, err := store.Open(store.Options{Dir: filepath.Join(dir, "store"), Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				return st.Close()
			}
			if _, locked := errors.AsType[*store.LockedError](err); locked {
				return err
			}
			return nil // what cannot be opened can be deleted
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(dir), os.RemoveAll(s.DataDir)) // the second is a link, if there is one
}
