package agentsetup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/service"
)

// Choices are the parts of a setup that the user chose.
type Choices struct {
	Proxy    bool `json:"proxy"`
	Text     bool `json:"text"`
	Verbatim bool `json:"verbatim"`
	Instead  bool `json:"answer_from_cache"`
	Prefetch bool `json:"prefetch"`
}

// Setup sets up one agent.
type Setup struct {
	Std      terminal.Streams
	Settings *settings.Settings
	Agent    agents.Agent
	Ask      *terminal.Asker
	Yes, Dry bool

	Wanted bool // the answer is yes if only Enter is pressed

	// Record is the file of the record, if it is not that of the folder that the environment names.
	Record string
}

// setupRecord records the setup of an agent, so that it can be undone.
type setupRecord struct {
	Choices Choices       `json:"wishes"`
	Files   []recordEntry `json:"files"`
}

type recordEntry struct {
	agents.Record
	Dirs []string `json:"dirs,omitempty"` // folders created for the file, the innermost first
}

// entry returns what the record of an earlier setup has of a file; the zero value if it has nothing.
func (j *setupRecord) entry(path string) recordEntry {
	for _, e := range j.Files {
		if e.Path == path {
			return e
		}
	}
	return recordEntry{}
}

// set puts an entry in the place of that of the same file.
func (j *setupRecord) set(e recordEntry) {
	j.Files = slices.DeleteFunc(j.Files, func(old recordEntry) bool { return old.Path == e.Path })
	j.Files = append(j.Files, e)
}

// Change is a change to one file.
type Change struct {
	file   *agents.File
	state  fileState
	edit   agents.Edit
	record recordEntry
}

// Changes reports whether the file becomes another.
func (c Change) Changes() bool { return c.edit.Gone || !slices.Equal(c.edit.Text, c.state.text) }

// Install sets the agent up as w says, after showing the changes.
func (in *Setup) Install(ctx context.Context, w Choices) error {
	j, err := in.journal()
	if err != nil {
		return err
	}
	choice, notes, err := in.choice(ctx, w, !in.Dry)
	if err != nil {
		return err
	}
	files := agents.Files(in.Agent, thisMachine(), choice)
	changes, err := in.plan(files, j)
	if err != nil {
		return err
	}
	for _, c := range changes {
		for _, n := range c.edit.Notes {
			notes = append(notes, c.file.Path+": "+n)
		}
	}
	if done, err := in.carryOut(changes, notes, func(e recordEntry) error {
		j.Choices = w
		j.set(e)
		return in.keep(j)
	}); !done || err != nil {
		return err
	}
	j = setupRecord{Choices: w}
	for _, c := range changes {
		if c.edit.Record.Sum != "" {
			j.Files = append(j.Files, c.record)
		}
	}
	if err := in.keep(j); err != nil {
		return err
	}
	in.Std.Note("%s is set up; %s", in.Agent.Title(), next[in.Agent])
	if d := daemon.Find(ctx, in.Settings.DataDir); d != nil {
		daemon.NoteOtherVersion(in.Std, in.Settings, d)
	}
	return nil
}

// next is what the user does after the setup of an agent.
var next = map[agents.Agent]string{
	agents.Claude:   "restart it",
	agents.Codex:    "restart it and trust the hooks with /hooks",
	agents.Gemini:   "restart it; to send its web requests through the proxy, start it with: readthru run -- gemini",
	agents.Cursor:   "restart it; the proxy must be running (readthru serve)",
	agents.VSCode:   "restart it; the proxy must be running (readthru serve)",
	agents.OpenCode: "restart it; to send its web requests through the proxy, start it with: readthru run -- opencode",
}

// Remove takes the setup back, after showing the changes.
func (in *Setup) Remove(ctx context.Context) error {
	changes, notes, err := in.Removal(ctx)
	if err != nil {
		return err
	}
	if done, err := in.carryOut(changes, notes, nil); !done || err != nil {
		return err
	}
	if err := in.Forget(); err != nil {
		return err
	}
	in.Std.Note("removed the setup of %s", in.Agent.Title())
	return nil
}

// Forget removes the record of the setup.
func (in *Setup) Forget() error {
	if err := os.Remove(in.JournalFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Removal returns the changes that take the setup back.
func (in *Setup) Removal(ctx context.Context) (changes []Change, notes []string, err error) {
	j, err := in.journal()
	if err != nil {
		return nil, nil, err
	}
	var files []*agents.File
	if in.Record == "" {
		all, _, err := in.choice(ctx, Choices{Proxy: true, Text: true, Instead: true, Prefetch: true}, false)
		if err != nil { // the journal, or the text itself, tells what is ours
			all = agents.Choice{
				Command: []string{"readthru"}, Text: true, Instead: true, Prefetch: true,
				Env: in.variables(settings.ClientEnv{}),
			}
		}
		files = agents.Files(in.Agent, thisMachine(), all)
	}
	for _, f := range append(files, leftOver(files, j)...) {
		entry := j.entry(f.Path)
		state, err := readFile(f.Path)
		if err != nil {
			return nil, nil, in.cannot(err)
		}
		edit, err := f.Remove(state.text, entry.Record)
		if err != nil {
			return nil, nil, in.cannot(fmt.Errorf("%s: %w", f.Path, err))
		}
		c := Change{f, state, edit, entry}
		if f.Format == agents.Whole && entry.Sum == "" {
			continue // not known to be ours
		}
		for _, n := range edit.Notes {
			notes = append(notes, f.Path+": "+n)
		}
		changes = append(changes, c)
	}
	slices.Reverse(changes) // the first file owns the folders
	return changes, notes, nil
}

// plan returns the change to each file. Files of an earlier setup that this one does not use are restored.
func (in *Setup) plan(files []*agents.File, j setupRecord) (changes []Change, err error) {
	for _, f := range files {
		entry := j.entry(f.Path)
		state, err := readFile(f.Path)
		if err != nil {
			return nil, in.cannot(err)
		}
		edit, err := f.Setup(state.text, entry.Record)
		if err != nil {
			return nil, in.cannot(fmt.Errorf("%s: %w", f.Path, err))
		}
		entry.Record = edit.Record
		changes = append(changes, Change{f, state, edit, entry})
	}
	for _, f := range leftOver(files, j) {
		entry := j.entry(f.Path)
		state, err := readFile(f.Path)
		if err != nil {
			return nil, in.cannot(err)
		}
		edit, err := f.Remove(state.text, entry.Record)
		if err != nil {
			return nil, in.cannot(fmt.Errorf("%s: %w", f.Path, err))
		}
		changes = append(changes, Change{f, state, edit, entry})
	}
	return changes, nil
}

// leftOver returns the files of a journal that are not among files.
func leftOver(files []*agents.File, j setupRecord) (list []*agents.File) {
	for _, e := range j.Files {
		if !slices.ContainsFunc(files, func(f *agents.File) bool { return f.Path == e.Path }) {
			list = append(list, e.File())
		}
	}
	return list
}

func (in *Setup) cannot(err error) error {
	return terminal.WithHint(fmt.Errorf("set up %s: %w", in.Agent.Title(), err),
		"nothing was changed: repair that file, or edit it by hand as docs/agents.md describes")
}

// carryOut shows the changes to an agent's settings and makes them if the user agrees. Record keeps each before it is
// made, so that an interrupted setup can be taken back. It reports whether it made them.
func (in *Setup) carryOut(
	changes []Change, notes []string, record func(recordEntry) error,
) (done bool, err error) {
	for _, n := range notes {
		in.Std.Note("%s", n)
	}
	if !slices.ContainsFunc(changes, Change.Changes) {
		in.Std.Note("nothing to change for %s", in.Agent.Title())
		return false, nil
	}
	for _, c := range changes {
		if c.Changes() {
			if err := in.Std.Print(c.Diff()); err != nil {
				return false, err
			}
		}
	}
	if in.Dry {
		return false, nil
	}
	if !in.Yes {
		if in.Ask.Mute {
			return false, terminal.WithHint(terminal.Usagef("setup needs confirmation: pass --yes or run it in a terminal"),
				"--dry-run only shows the change")
		}
		if !in.Ask.Yes("Write these changes?", in.Wanted) {
			in.Std.Note("nothing was changed")
			return false, nil
		}
	}
	return true, in.Write(changes, record)
}

// Write makes the changes. Each is recorded before it is made, if there is a record: whatever interrupts them, all can
// be undone.
func (in *Setup) Write(changes []Change, record func(recordEntry) error) error {
	for i := range changes {
		c := &changes[i]
		if !c.Changes() {
			continue
		}
		if record != nil && !c.edit.Gone {
			if made := missing(filepath.Dir(c.state.path)); len(made) > 0 {
				c.record.Dirs = made
			}
			if err := record(c.record); err != nil {
				return fmt.Errorf("set up %s: %w", in.Agent.Title(), err)
			}
		}
		if err := c.write(); err != nil {
			return fmt.Errorf("set up %s: %w", in.Agent.Title(), err)
		}
		if c.edit.Gone {
			in.Std.Note("removed %s", c.file.Path)
		} else {
			in.Std.Note("wrote %s", c.file.Path)
		}
	}
	return nil
}

// Diff shows a change as a patch.
func (c Change) Diff() string {
	before, after := c.file.Path, c.file.Path
	if !c.state.there {
		before = os.DevNull
	}
	if c.edit.Gone {
		after = os.DevNull
	}
	_, text, _ := bytes.Cut(diff.Diff(before, c.state.text, after, c.edit.Text), []byte("\n")) // the line before "---"
	return string(text)
}

// choice turns choices into what settings will contain. With makeFiles it creates the files that the environment names.
func (in *Setup) choice(ctx context.Context, w Choices,
	makeFiles bool,
) (c agents.Choice, notes []string, err error) {
	command, err := ThisProgram()
	if err != nil {
		return c, nil, err
	}
	s := in.Settings
	c = agents.Choice{
		Command: []string{command}, Text: w.Text, Verbatim: w.Verbatim, Instead: w.Instead,
		Prefetch: w.Prefetch,
	}
	if s.Source["data_dir"] != "default" && !strings.HasPrefix(s.Source["data_dir"], "environment XDG") {
		c.Command = append(c.Command, "--data-dir", s.DataDir)
	}
	if s.Source["config"] != "default" {
		name, err := filepath.Abs(s.ConfigFile)
		if err != nil {
			return c, nil, err
		}
		c.Command = append(c.Command, "--config", name)
	}
	if !w.Proxy || !in.Agent.TakesEnv() {
		return c, nil, nil
	}
	proxy := s.Proxy.Listen
	if d := daemon.Find(ctx, s.DataDir); d != nil && d.Made == "" { // one that a command started ends
		proxy = d.Proxy
	}
	if _, port, _ := net.SplitHostPort(s.Proxy.Listen); port == "0" {
		return c, []string{"the proxy's environment was left out: proxy.listen has no fixed port"}, nil
	}
	if len(s.Proxy.Users) > 0 {
		return c, []string{"the proxy's environment was left out: the proxy has users, so it would contain a password"}, nil
	}
	ca := settings.AuthorityOptions(s)
	e := settings.ClientEnv{
		Proxy: proxy, Cert: ca.AddedFile(), Bundle: ca.BundleFile(),
		WGETRC: filepath.Join(s.DataDir, "wgetrc"),
	}
	e.Direct = cmp.Or(os.Getenv("no_proxy"), os.Getenv("NO_PROXY"))
	if makeFiles {
		if err := in.checkPort(ctx, proxy); err != nil {
			return c, nil, err
		}
		if err := settings.MakeDataDir(s.DataDir); err != nil {
			return c, nil, err
		}
		authority, err := settings.OpenAuthority(s)
		if err != nil {
			return c, nil, err
		}
		if e, err = settings.NewClientEnv(s, authority, proxy, ""); err != nil {
			return c, nil, err
		}
	}
	c.Env = in.variables(e)
	return c, nil, nil
}

// ErrPortTaken is the error of Install if the agent's requests would reach somebody else.
var ErrPortTaken = errors.New("another program or user has the proxy's address")

// checkPort returns ErrPortTaken if another program, or another user's daemon, has the address to which the agent's
// requests would go.
func (in *Setup) checkPort(ctx context.Context, proxy string) error {
	s := in.Settings
	if unlock, err := daemon.LockStart(ctx, s.DataDir, func() {}); err == nil { // one that starts can be found then
		unlock()
	}
	if d := daemon.Find(ctx, s.DataDir); d != nil && SameAddress(proxy, d.Proxy) {
		return nil
	}
	l, err := daemon.Listen(ctx, proxy, false)
	if err == nil {
		return l.Close()
	}
	if m, merr := daemon.ServiceManager(s); merr == nil && service.Installed(m) || !errors.Is(err, syscall.EADDRINUSE) {
		return nil // the system listens for the service; what else is wrong with an address, its daemon tells
	}
	return terminal.WithHint(fmt.Errorf("set up %s: %w: %s, where the agent's web requests would go", in.Agent.Title(),
		ErrPortTaken, proxy), "end that program, or set proxy.listen in the configuration to another address; "+
		"--no-proxy leaves the agent's web requests as they are")
}

// SameAddress reports whether settings that point at an address reach a listener at another. A name, and the address of
// all interfaces, stand for any.
func SameAddress(points, at string) bool {
	host, port, errX := net.SplitHostPort(points)
	to, toPort, errY := net.SplitHostPort(at)
	if errX != nil || errY != nil || port != toPort {
		return false
	}
	ip := net.ParseIP(host)
	return host == to || ip == nil || ip.IsUnspecified()
}

// variables returns the environment of clients as variables of an agent's settings.
func (in *Setup) variables(e settings.ClientEnv) (list []agents.Variable) {
	for _, v := range e.Variables() {
		list = append(list, agents.Variable{Name: v.Name, Value: v.Value})
	}
	return list
}

// ThisProgram returns the path of this program, for agents to run.
func ThisProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "", terminal.WithHint(errors.New("\"go run\" deletes this program when it ends"),
			"build it with \"make build\" or \"go install ./cmd/readthru\", and run that")
	}
	if found, err := exec.LookPath("readthru"); err == nil && sameFile(found, self) {
		return filepath.Abs(found) // it may be a link, which outlives an upgrade
	}
	return self, nil
}

// sameFile reports whether two names are of one file, also by links.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// thisMachine describes where agents keep their settings on this machine.
func thisMachine() agents.Machine {
	home, _ := os.UserHomeDir()     // empty: relative paths, which readFile refuses
	config, _ := os.UserConfigDir() // likewise
	return agents.Machine{OS: runtime.GOOS, Home: home, Config: config, Getenv: os.Getenv, Exists: func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}}
}

// PointsAt returns the address of the proxy that setup wrote into the agent's settings, or "" if it wrote none.
func (in *Setup) PointsAt() string {
	j, err := in.journal()
	if err != nil {
		return ""
	}
	for _, file := range j.Files {
		for _, w := range file.Wants {
			value, ok := w.Value.(string)
			if !ok || w.Path[len(w.Path)-1] != "HTTPS_PROXY" {
				continue
			}
			if u, err := url.Parse(value); err == nil {
				return u.Host
			}
		}
	}
	return ""
}
