package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/urfave/cli/v2"

	"readthru/agents"
)

func (p *program) setupCommand() *cli.Command {
	return &cli.Command{
		Name:      "setup",
		Usage:     "make an agent use this program: hooks, tool server, proxy and a paragraph of instructions",
		ArgsUsage: "[AGENT]",
		Description: "AGENT is claude, codex, gemini, cursor, vscode or opencode; without one, those found here are " +
			"listed. The change is shown first.\n" +
			"Settings of others are never touched, and --remove takes back what was put in, to the byte.",
		Flags: []cli.Flag{
			jsonFlag(),
			&cli.BoolFlag{Name: "remove", Usage: "take back what was set up"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show the change and write nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "write it without asking"},
			&cli.BoolFlag{Name: "no-proxy", Usage: "leave the agent's web requests as they are"},
			&cli.BoolFlag{Name: "no-text", Usage: "leave the agent's instructions as they are"},
			&cli.BoolFlag{Name: "verbatim", Usage: "put the page itself in place of what a tool made of it"},
			&cli.BoolFlag{
				Name:  "answer-from-cache",
				Usage: "answer with a page that is here and fresh, in place of the tool that would read it",
			},
			&cli.BoolFlag{Name: "prefetch", Usage: "fetch pages that a message names, three at most, before they are read"},
			&cli.BoolFlag{Name: "instructions", Usage: "print a paragraph for the AGENTS.md of an agent that is not listed"},
		},
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if c.Bool("instructions") {
				return p.print(agents.Instructions)
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if c.Bool("remove") {
					return usagef("AGENT is missing: whose settings are to be taken back?")
				}
				return p.listAgents(c.Context, s, c.Bool("json"))
			}
			name, err := oneArg(args, "AGENT")
			if err != nil {
				return err
			}
			agent := agents.Agent(name)
			if !agents.Known(agent) {
				return withHint(usagef("there is no agent %q here", name),
					`see "readthru setup"; for any other, "readthru setup --instructions" and the tool server "readthru mcp"`)
			}
			w := wishes{
				Proxy: !c.Bool("no-proxy"), Text: !c.Bool("no-text"), Verbatim: c.Bool("verbatim"),
				Instead: c.Bool("answer-from-cache"), Prefetch: c.Bool("prefetch"),
			}
			ask := asker{in: bufio.NewReader(p.in), out: p.err, mute: c.Bool("yes") || c.Bool("dry-run") || !terminal(p.in)}
			set := &installation{p: p, settings: s, agent: agent, ask: &ask, yes: c.Bool("yes"), dry: c.Bool("dry-run")}
			if c.Bool("remove") {
				return set.remove(c.Context)
			}
			if !ask.mute {
				w = ask.wishes(agent, w, c.IsSet)
			}
			return set.install(c.Context, w)
		},
	}
}

// wishes are what the user wants set up.
type wishes struct {
	Proxy    bool `json:"proxy"`
	Text     bool `json:"text"`
	Verbatim bool `json:"verbatim"`
	Instead  bool `json:"answer_from_cache"`
	Prefetch bool `json:"prefetch"`
}

// asker asks questions on a terminal.
type asker struct {
	in   *bufio.Reader
	out  io.Writer
	mute bool // nothing is asked: every answer is its default
}

func (a *asker) yes(question string, otherwise bool) bool {
	if a.mute {
		return otherwise
	}
	choice := "[y/N]"
	if otherwise {
		choice = "[Y/n]"
	}
	_, _ = fmt.Fprintf(a.out, "%s %s ", question, choice) // a terminal that is gone gives no answer either
	line, err := a.in.ReadString('\n')
	switch answer := strings.ToLower(strings.TrimSpace(line)); {
	case err != nil && answer == "":
		return false
	case answer == "":
		return otherwise
	default:
		return answer == "y" || answer == "yes"
	}
}

// wishes asks for what no flag decided.
func (a *asker) wishes(agent agents.Agent, w wishes, set func(string) bool) wishes {
	if agent.TakesEnv() && !set("no-proxy") {
		w.Proxy = a.yes("Send the agent's web requests through the proxy? It must run then: readthru serve.", true)
	}
	if agent == agents.Claude && !set("verbatim") {
		w.Verbatim = a.yes("Give the model the page itself in place of what WebFetch makes of it?", false)
	}
	return w
}

// installation is the setting up of one agent.
type installation struct {
	p        *program
	settings *settings
	agent    agents.Agent
	ask      *asker
	yes, dry bool
}

// journal is what was set up for an agent, so that it can be taken back.
type journal struct {
	Wishes wishes         `json:"wishes"`
	Files  []journalEntry `json:"files"`
}

type journalEntry struct {
	agents.Record
	Dirs []string `json:"dirs,omitempty"` // folders that were made for the file, the innermost first
}

func (j *journal) entry(path string) journalEntry {
	for _, e := range j.Files {
		if e.Path == path {
			return e
		}
	}
	return journalEntry{}
}

// change is what becomes of one file.
type change struct {
	file   *agents.File
	state  fileState
	edit   agents.Edit
	record journalEntry
}

func (c change) changes() bool { return c.edit.Gone || !slices.Equal(c.edit.Text, c.state.text) }

func (in *installation) install(ctx context.Context, w wishes) error {
	j, err := in.journal()
	if err != nil {
		return err
	}
	choice, notes, err := in.choice(ctx, w, !in.dry)
	if err != nil {
		return err
	}
	files := agents.Files(in.agent, thisMachine(), choice)
	changes, err := in.plan(files, j)
	if err != nil {
		return err
	}
	for _, c := range changes {
		for _, n := range c.edit.Notes {
			notes = append(notes, c.file.Path+": "+n)
		}
	}
	if done, err := in.carryOut(changes, notes); !done || err != nil {
		return err
	}
	j = journal{Wishes: w}
	for _, c := range changes {
		if c.edit.Record.Sum != "" {
			j.Files = append(j.Files, c.record)
		}
	}
	if err := in.keep(j); err != nil {
		return err
	}
	in.p.note("%s is set up; %s", in.agent.Title(), next[in.agent])
	return nil
}

// next is what the user does once an agent is set up.
var next = map[agents.Agent]string{
	agents.Claude:   "start it anew, with the proxy running: readthru serve",
	agents.Codex:    "start it anew, with the proxy running (readthru serve), and trust the hooks with /hooks",
	agents.Gemini:   "start it anew; its web requests go through the proxy when you start it so: readthru run -- gemini",
	agents.Cursor:   "start it anew, with the proxy running: readthru serve",
	agents.VSCode:   "start it anew, with the proxy running: readthru serve",
	agents.OpenCode: "start it anew; its web requests go through the proxy when you start it so: readthru run -- opencode",
}

func (in *installation) remove(ctx context.Context) error {
	j, err := in.journal()
	if err != nil {
		return err
	}
	all, _, err := in.choice(ctx, wishes{Proxy: true, Text: true, Instead: true, Prefetch: true}, false)
	if err != nil { // what is ours is told by the journal, or by its looks
		all = agents.Choice{
			Command: []string{"readthru"}, Text: true, Instead: true, Prefetch: true,
			Env: in.variables(clientEnv{}),
		}
	}
	var changes []change
	var notes []string
	files := agents.Files(in.agent, thisMachine(), all)
	for _, f := range append(files, leftOver(files, j)...) {
		entry := j.entry(f.Path)
		state, err := readFile(f.Path)
		if err != nil {
			return in.cannot(err)
		}
		edit, err := f.Remove(state.text, entry.Record)
		if err != nil {
			return in.cannot(fmt.Errorf("%s: %w", f.Path, err))
		}
		c := change{f, state, edit, entry}
		if f.Format == agents.Whole && entry.Sum == "" {
			continue // not ours, as far as we know
		}
		for _, n := range edit.Notes {
			notes = append(notes, f.Path+": "+n)
		}
		changes = append(changes, c)
	}
	slices.Reverse(changes) // folders were made for the first file, and go with it
	if done, err := in.carryOut(changes, notes); !done || err != nil {
		return err
	}
	if err := os.Remove(in.journalFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in.p.note("what was set up for %s is taken back", in.agent.Title())
	return nil
}

// plan works out what becomes of each file. Files of an earlier setup that nothing belongs into any more are taken
// back.
func (in *installation) plan(files []*agents.File, j journal) (changes []change, err error) {
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
		changes = append(changes, change{f, state, edit, entry})
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
		changes = append(changes, change{f, state, edit, entry})
	}
	return changes, nil
}

// leftOver returns the files of a journal that are not among files.
func leftOver(files []*agents.File, j journal) (list []*agents.File) {
	for _, e := range j.Files {
		if !slices.ContainsFunc(files, func(f *agents.File) bool { return f.Path == e.Path }) {
			list = append(list, e.File())
		}
	}
	return list
}

func (in *installation) cannot(err error) error {
	return withHint(fmt.Errorf("set up %s: %w", in.agent.Title(), err),
		"nothing was changed: mend that file, or edit it by hand after docs/agents.md")
}

// carryOut shows the changes and, when the user agrees, makes them. It reports whether they are made.
func (in *installation) carryOut(changes []change, notes []string) (done bool, err error) {
	p := in.p
	for _, n := range notes {
		p.note("%s", n)
	}
	if !slices.ContainsFunc(changes, change.changes) {
		p.note("there is nothing to change for %s", in.agent.Title())
		return false, nil
	}
	for _, c := range changes {
		if c.changes() {
			if err := p.print(c.diff()); err != nil {
				return false, err
			}
		}
	}
	if in.dry {
		return false, nil
	}
	if !in.yes {
		if in.ask.mute {
			return false, withHint(usagef("nobody is there to agree to this"), "--yes writes it, --dry-run only shows it")
		}
		if !in.ask.yes("Write this?", false) {
			p.note("nothing was changed")
			return false, nil
		}
	}
	for i := range changes {
		c := &changes[i]
		if !c.changes() {
			continue
		}
		if err := c.write(); err != nil {
			return false, fmt.Errorf("set up %s: %w", in.agent.Title(), err)
		}
		if c.edit.Gone {
			p.note("removed %s", c.file.Path)
		} else {
			p.note("wrote %s", c.file.Path)
		}
	}
	return true, nil
}

// diff shows a change as a patch.
func (c change) diff() string {
	before, after := c.file.Path, c.file.Path
	if !c.state.there {
		before = os.DevNull
	}
	if c.edit.Gone {
		after = os.DevNull
	}
	_, text, _ := bytes.Cut(diff.Diff(before, c.state.text, after, c.edit.Text), []byte("\n")) // the line before ---
	return string(text)
}

// choice turns wishes into what is put into settings. makeFiles has the files made that the environment names.
func (in *installation) choice(ctx context.Context, w wishes,
	makeFiles bool,
) (c agents.Choice, notes []string, err error) {
	command, err := thisProgram()
	if err != nil {
		return c, nil, err
	}
	s := in.settings
	c = agents.Choice{
		Command: []string{command}, Text: w.Text, Verbatim: w.Verbatim, Instead: w.Instead,
		Prefetch: w.Prefetch,
	}
	if s.source["data_dir"] != "default" && !strings.HasPrefix(s.source["data_dir"], "environment XDG") {
		c.Command = append(c.Command, "--data-dir", s.dataDir)
	}
	if s.source["config"] != "default" {
		name, err := filepath.Abs(s.configFile)
		if err != nil {
			return c, nil, err
		}
		c.Command = append(c.Command, "--config", name)
	}
	if !w.Proxy || !in.agent.TakesEnv() {
		return c, nil, nil
	}
	proxy := s.Proxy.Listen
	if d := findDaemon(ctx, s.dataDir); d != nil {
		proxy = d.Proxy
	}
	if _, port, _ := net.SplitHostPort(s.Proxy.Listen); port == "0" {
		return c, []string{"the proxy's environment was left out: proxy.listen names no port that stays"}, nil
	}
	if len(s.Proxy.Users) > 0 {
		return c, []string{"the proxy's environment was left out: it would hold a password, since the proxy has users"}, nil
	}
	ca := filepath.Join(s.dataDir, "ca")
	e := clientEnv{
		proxy: proxy, cert: filepath.Join(ca, "ca.pem"), bundle: filepath.Join(ca, "bundle.pem"),
		wgetrc: filepath.Join(s.dataDir, "wgetrc"),
	}
	e.direct = cmp.Or(os.Getenv("no_proxy"), os.Getenv("NO_PROXY"))
	if makeFiles {
		if err := makeDataDir(s.dataDir); err != nil {
			return c, nil, err
		}
		authority, err := openAuthority(s)
		if err != nil {
			return c, nil, err
		}
		if e, err = newClientEnv(s, authority, proxy, ""); err != nil {
			return c, nil, err
		}
	}
	c.Env = in.variables(e)
	return c, nil, nil
}

func (in *installation) variables(e clientEnv) (list []agents.Variable) {
	for _, v := range e.variables() {
		list = append(list, agents.Variable{Name: v.name, Value: v.value})
	}
	return list
}

// thisProgram returns the path that agents are to run.
func thisProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "", withHint(errors.New("this program was built by \"go run\" and is gone when it ends"),
			"build it to stay, with \"make build\" or \"go install ./cmd/readthru\", and run that")
	}
	if found, err := exec.LookPath("readthru"); err == nil && sameFile(found, self) {
		return filepath.Abs(found) // perhaps a link, which outlives an upgrade
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// thisMachine says where agents keep their settings here.
func thisMachine() agents.Machine {
	home, _ := os.UserHomeDir()     // empty: relative paths, which readFile refuses
	config, _ := os.UserConfigDir() // likewise
	return agents.Machine{OS: runtime.GOOS, Home: home, Config: config, Getenv: os.Getenv, Exists: func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}}
}

func (in *installation) journalFile() string {
	return filepath.Join(in.settings.dataDir, "setup", string(in.agent)+".json")
}

// journal reads what was set up before.
func (in *installation) journal() (j journal, err error) {
	text, err := os.ReadFile(in.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	if err != nil {
		return j, withHint(fmt.Errorf("read what was set up before: %w", err),
			"remove "+in.journalFile()+": ours is told by its looks then")
	}
	return j, nil
}

// keep writes what was set up.
func (in *installation) keep(j journal) error {
	text, err := json.MarshalIndent(j, "", "  ")
	if err == nil {
		err = makeDataDir(in.settings.dataDir)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(in.journalFile()), 0o700)
	}
	if err != nil {
		return fmt.Errorf("keep what was set up: %w", err)
	}
	return writeWhole(in.journalFile(), func(f *os.File) error {
		_, err := f.Write(append(text, '\n'))
		return err
	})
}

// agentState is an agent as a list shows it.
type agentState struct {
	Agent agents.Agent `json:"agent"`
	Title string       `json:"title"`
	Found bool         `json:"found"`
	State string       `json:"state"` // set up, partly, or no
	Files []string     `json:"files"`
	Error string       `json:"error,omitempty"`
}

// listAgents tells which agents are here and which of them are set up.
func (p *program) listAgents(ctx context.Context, s *settings, asJSON bool) error {
	var list []agentState
	for _, a := range agents.All() {
		in := &installation{p: p, settings: s, agent: a}
		list = append(list, in.look(ctx))
	}
	if asJSON {
		return p.printJSON(list)
	}
	var rows [][]string
	for _, st := range list {
		found := "no"
		if st.Found {
			found = "yes"
		}
		rows = append(rows, []string{string(st.Agent), st.Title, found, cmp.Or(st.Error, st.State)})
	}
	return p.table([]string{"AGENT", "NAME", "FOUND", "SET UP"}, rows)
}

func (in *installation) look(ctx context.Context) agentState {
	m := thisMachine()
	st := agentState{Agent: in.agent, Title: in.agent.Title(), State: "no", Found: m.Exists(m.Dir(in.agent))}
	for _, name := range in.agent.Programs() {
		if _, err := exec.LookPath(name); err == nil {
			st.Found = true
		}
	}
	j, err := in.journal()
	if err != nil {
		st.Error = err.Error()
		return st
	}
	w := j.Wishes
	if len(j.Files) == 0 {
		w = wishes{Proxy: true, Text: true}
	}
	choice, _, err := in.choice(ctx, w, false)
	if err != nil {
		st.Error = err.Error()
		return st
	}
	files := agents.Files(in.agent, m, choice)
	changes, err := in.plan(files, j)
	for _, f := range files {
		st.Files = append(st.Files, f.Path)
	}
	if err != nil {
		st.Error = err.Error()
		return st
	}
	missing, ours := 0, 0
	for _, c := range changes {
		if c.changes() {
			missing++
		}
		if without, err := c.file.Remove(c.state.text, j.entry(c.file.Path).Record); err == nil &&
			(without.Gone || !slices.Equal(without.Text, c.state.text)) {
			ours++
		}
	}
	switch {
	case missing == 0:
		st.State = "yes"
	case ours > 0:
		st.State = "partly"
	}
	return st
}
