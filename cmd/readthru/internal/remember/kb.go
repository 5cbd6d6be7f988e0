package remember

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/knowledge"
)

// kbCommand is the command kb: knowledge bases, and the jobs that fill them.
func (p *program) kbCommand() *cli.Command {
	limit := &cli.IntFlag{Name: "limit", Usage: "read at most `N` pages", DefaultText: "1000"}
	return &cli.Command{
		Name:  "kb",
		Usage: "manage knowledge bases: sites, files and texts to search separately",
		Subcommands: []*cli.Command{
			{
				Name: "new", Usage: "create a base and fill it", ArgsUsage: "NAME",
				Description: "Without --crawl, --scrape and --file the base is for texts that \"kb add\" adds.\nA " +
					"pattern is a glob over path and query (/docs/*), or re: and a regular expression.\n" +
					"--crawl of an llms-full.txt takes the pages out of it, by one request, where it says their URLs.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "crawl", Usage: "fill it from a site, starting at `URL`"},
					&cli.StringFlag{Name: "scrape", Usage: "fill it from the page at `URL`"},
					&cli.StringSliceFlag{
						Name:  "file",
						Usage: "fill it from `PATH`: markdown, text, HTML, PDF, JSON lines, a folder, or a .txt list of URLs",
					},
					limit,
					&cli.IntFlag{Name: "depth", Usage: "follow at most `N` links from the start", DefaultText: "any"},
					&cli.StringSliceFlag{Name: "include", Usage: "read only pages that match `PATTERN`"},
					&cli.StringSliceFlag{Name: "exclude", Usage: "do not read pages that match `PATTERN`"},
					&cli.StringFlag{Name: "description", Usage: "`TEXT` that describes the base in lists"},
					command.JSONFlag(),
				},
				Action: p.newBase,
			},
			{
				Name: "list", Usage: "list the bases", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).Bases, p.listBases),
			},
			{
				Name: "show", Usage: "show a base and its documents", ArgsUsage: "BASE",
				Flags: []cli.Flag{command.LimitFlag(), command.CursorFlag(), command.JSONFlag()}, Action: p.showBase,
			},
			{
				Name: "refresh", Usage: "fill a base again from its source; the present content answers until then",
				Description: "The source is the site, the page or the files that the base was made of, or the pages of a list " +
					"of URLs.",
				ArgsUsage: "BASE", Flags: []cli.Flag{limit, command.JSONFlag()}, Action: p.refreshBase,
			},
			p.deleteBaseCommand("rm"), p.Former(p.deleteBaseCommand("delete"), "kb rm"),
			{
				Name: "add", Usage: "add a text to a base", ArgsUsage: "BASE [FILE]",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "title", Usage: "`TITLE` of the text"},
					&cli.StringFlag{Name: "label", Usage: "source of the text, as a `WORD`"},
					&cli.StringFlag{Name: "url", Usage: "`URL` of the text: a later text with the same label and URL replaces it"},
					command.JSONFlag(),
				},
				Action: p.addText,
			},
			{
				Name: "subjects", Usage: "list the subjects of a base", ArgsUsage: "BASE",
				Flags: []cli.Flag{command.LimitFlag(), command.JSONFlag()}, Action: p.baseSubjects,
			},
			{
				Name: "passages", Usage: "list the passages of a base in their order", ArgsUsage: "BASE",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "subject", Usage: "only passages about `SUBJECT`"},
					&cli.StringFlag{Name: "doc", Usage: "only passages of the document `ID`"},
					&cli.StringFlag{Name: "url", Usage: "only passages of the document at `URL`"},
					command.LimitFlag(), command.CursorFlag(), command.JSONFlag(),
				},
				Action: p.basePassages,
			},
			{
				Name: "pack", Usage: "write a base as one signed file", ArgsUsage: "BASE FILE",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: p.packBase,
			},
			{
				Name: "unpack", Usage: "create a base from a packed file, without a network", ArgsUsage: "FILE",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "name", Usage: "`NAME` of the new base", DefaultText: "as in the file"},
					&cli.StringFlag{Name: "signer", Usage: "trust the signer `ID`"},
					&cli.BoolFlag{Name: "any-signer", Usage: "trust every signer"}, command.JSONFlag(),
				},
				Action: p.unpackBase,
			},
			{
				Name: "jobs", Usage: "list the jobs that fill bases, and the last that did",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).Jobs, p.listJobs),
			},
			{
				Name: "cancel", Usage: "cancel a job", ArgsUsage: "JOB", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "JOB", (*api.Client).CancelJob, p.cancelledJob),
			},
		},
	}
}

// deleteBaseCommand is the subcommand that deletes a base, under each of the names that it has.
func (p *program) deleteBaseCommand(name string) *cli.Command {
	return &cli.Command{
		Name: name, Usage: "delete a base and what no other base holds", ArgsUsage: "BASE",
		Flags: []cli.Flag{command.JSONFlag()}, Action: p.deleteBase,
	}
}

// newBase creates a knowledge base and fills it from a site, a page, files or a list of URLs, and waits for the job.
// Files are read by this command and sent to the daemon, which reads no path that a request names.
func (p *program) newBase(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "NAME")
	if err != nil {
		return err
	}
	if err := knowledge.CheckBaseName(name); err != nil {
		return terminal.Mistake(err)
	}
	if c.IsSet("crawl") && c.IsSet("scrape") || (c.IsSet("crawl") || c.IsSet("scrape")) && c.IsSet("file") {
		return terminal.Usagef("use at most one of --crawl, --scrape and --file")
	}
	if err := above0(c, "limit", "depth"); err != nil {
		return err
	}
	n := api.NewBase{
		Name: name, Description: c.String("description"), Crawl: c.String("crawl"), Scrape: c.String("scrape"),
		Limit: c.Int("limit"), Depth: c.Int("depth"), Include: c.StringSlice("include"), Exclude: c.StringSlice("exclude"),
	}
	if c.IsSet("file") && (n.Limit > 0 || n.Depth > 0 || len(n.Include)+len(n.Exclude) > 0) {
		return terminal.Usagef("--limit, --depth, --include and --exclude need --crawl")
	}
	if n.Crawl != "" || n.Scrape != "" { // a daemon has another environment
		s, err := p.Load()
		if err != nil {
			return err
		}
		n.Service = s.AskedService()
	}
	var paths []string
	for _, f := range c.StringSlice("file") {
		abs, err := filepath.Abs(f)
		if err == nil {
			_, err = os.Stat(abs)
		}
		if err != nil {
			return terminal.Mistake(err)
		}
		paths = append(paths, abs)
	}
	var urls []string
	if len(paths) == 1 {
		if urls, _, err = command.ListedIn(paths[0]); err != nil {
			return terminal.Mistake(err)
		}
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		var f *api.Filling
		var err error
		if urls != nil {
			return p.fillFromURLs(c, b, n, urls)
		}
		if paths == nil {
			f, err = b.CreateBase(c.Context, n)
		} else {
			f, err = p.sendFiles(c.Context, b, api.FilesQuery{Name: name, Description: n.Description, Paths: paths})
		}
		switch api.CodeOf(err) {
		case api.CodeBaseExists, api.CodeBaseBuilding:
			return terminal.WithHint(err, fmt.Sprintf("readthru kb refresh %s fills it again; readthru kb rm %s deletes it",
				name,
				name))
		}
		if err != nil {
			return err
		}
		return p.filled(c, b, f, "created")
	})
}

// refreshBase fills a base again from where it came from: its site, its page, its files, or the URLs of its list.
func (p *program) refreshBase(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "BASE")
	if err != nil {
		return err
	}
	if err := above0(c, "limit"); err != nil {
		return err
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		kb, err := b.Base(c.Context, name)
		if err != nil {
			return err
		}
		if kb.Source == knowledge.SourceText {
			urls, err := listedURLs(c, b, name)
			if err != nil {
				return err
			}
			if len(urls) > 0 {
				return p.readURLs(c, b, name, urls, "refreshed", api.FetchRequest{Force: true})
			}
		}
		var f *api.Filling
		if kb.Source == knowledge.SourceFile {
			f, err = p.sendFiles(c.Context, b, api.FilesQuery{Name: name, Paths: kb.Files, Refresh: true})
		} else {
			f, err = b.RefreshBase(c.Context, name, c.Int("limit"))
		}
		if err != nil {
			return whileBuilding(err)
		}
		return p.filled(c, b, f, "refreshed")
	})
}

// sendFiles fills a base from files of this user. The files are read here: a daemon reads no path that it is told.
func (p *program) sendFiles(ctx context.Context, b *api.Client, q api.FilesQuery) (*api.Filling, error) {
	dir, _, err := settings.DataDir(p.DataDirFlag)
	if err != nil {
		return nil, err
	}
	parcel, out := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := knowledge.PackFiles(ctx, out, q.Paths, dir)
		_ = out.CloseWithError(err) // a pipe's never fails
		packed <- err
	}()
	f, err := b.FillFromFiles(ctx, q, parcel)
	_ = parcel.Close() // as above
	if perr := <-packed; perr != nil && !errors.Is(perr, io.ErrClosedPipe) {
		return nil, perr // the cause
	}
	return f, err
}

// above0 returns an error for a flag that is given and not above 0.
func above0(c *cli.Context, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) && c.Int(name) < 1 {
			return terminal.Usagef("--%s: %d is not a number above 0", name, c.Int(name))
		}
	}
	return nil
}

// whileBuilding adds the remedy to the error of a base that is being filled.
func whileBuilding(err error) error {
	if api.CodeOf(err) == api.CodeBaseBuilding {
		return terminal.WithHint(err, `"readthru kb jobs" lists the jobs that run, "readthru kb cancel ID" cancels one`)
	}
	return err
}

// filled waits until a base is filled and reports its size.
func (p *program) filled(c *cli.Context, b *api.Client, f *api.Filling, done string) error {
	if f.Job == nil {
		if c.Bool("json") {
			return p.PrintJSON(f.KB)
		}
		p.Note("%s %s; add texts with: readthru kb add %s FILE", done, f.KB.Name, f.KB.Name)
		return nil
	}
	last, err := p.Watch(c.Context, b, f.Job.ID)
	if last != nil {
		p.tellJob(last)
	}
	if err != nil && last != nil && last.Documents > 0 && last.State != api.JobInterrupted {
		return terminal.WithHint(err, fmt.Sprintf("%s read so far answer searches; readthru kb refresh %s goes on",
			terminal.Count(last.Documents, "document"), f.KB.Name))
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return p.PrintJSON(last)
	}
	p.Note("%s %s: %s in %s", done, f.KB.Name, terminal.Count(last.Passages, "passage"),
		terminal.Count(last.Documents, "document"))
	return nil
}

// maxWarnings is how many failures of a job are listed.
const maxWarnings = 10

// tellJob reports what a job left out.
func (p *program) tellJob(j *api.Job) {
	var outcomes []string
	for _, o := range slices.Sorted(maps.Keys(j.Outcomes)) {
		outcomes = append(outcomes, fmt.Sprintf("%d %s", j.Outcomes[o], o))
	}
	if len(outcomes) > 0 {
		p.Note("URLs: %s", strings.Join(outcomes, ", "))
	}
	if j.Kept > 0 {
		p.Note("kept %s that could not be fetched again", terminal.Count(j.Kept, "document"))
	}
	for _, r := range j.Remarks {
		p.Note("remark: %s", r)
	}
	wrong := slices.Clone(j.Failures)
	for _, s := range j.Skipped {
		at := s.Path
		if s.Line > 0 {
			at += ":" + strconv.Itoa(s.Line)
		}
		wrong = append(wrong, at+": "+s.Reason)
	}
	for i, w := range wrong {
		if i == maxWarnings {
			p.Note("warning: … and %d more", len(wrong)+j.NotTaken-len(j.Skipped)-i)
			break
		}
		p.Note("warning: %s", w)
	}
}

// listBases lists the knowledge bases with how much is in each.
func (p *program) listBases(list *api.BaseList) error {
	var rows [][]string
	for _, kb := range list.KBs {
		rows = append(rows, []string{
			kb.Name, kb.Source, strconv.Itoa(kb.Documents), strconv.Itoa(kb.Passages),
			terminal.Day(kb.UpdatedAt), kb.Description,
		})
	}
	return p.Table([]string{"NAME", "SOURCE", "DOCUMENTS", "PASSAGES", "UPDATED", "DESCRIPTION"}, rows)
}

// showBase prints where a base comes from, and its documents.
func (p *program) showBase(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "BASE")
	if err != nil {
		return err
	}
	limit, err := command.LimitOf(c)
	if err != nil {
		return err
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		kb, err := b.Base(c.Context, name)
		if err != nil {
			return err
		}
		docs, err := b.BaseDocuments(c.Context, name, c.String("cursor"), limit)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return p.PrintJSON(struct {
				*knowledge.Base
				List []knowledge.Entry `json:"list"`
				Next string            `json:"next,omitempty"`
			}{kb, docs.Documents, docs.Next})
		}
		p.Note("%s: %s in %s, from %s %s%s", kb.Name, terminal.Count(kb.Passages, "passage"),
			terminal.Count(kb.Documents, "document"),
			kb.Source, kb.URL, strings.Join(kb.Files, " "))
		var rows [][]string
		for _, d := range docs.Documents {
			rows = append(rows, []string{d.Doc, strconv.Itoa(d.Passages), d.Title, d.URL})
		}
		p.More(c, docs.Next)
		return p.Table([]string{"DOC", "PASSAGES", "TITLE", "URL"}, rows)
	})
}

// deleteBase deletes a knowledge base. Pages that were visited or belong to another base stay (rule D5).
func (p *program) deleteBase(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "BASE")
	if err != nil {
		return err
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		kb, err := b.DeleteBase(c.Context, name)
		if err != nil {
			return whileBuilding(err)
		}
		return p.Done(c, kb, "deleted %s: it had %s in %s", kb.Name, terminal.Count(kb.Passages, "passage"),
			terminal.Count(kb.Documents, "document"))
	})
}

// addText adds one text to a base, from a file or standard input, of at most command.MaxText bytes. The same text with
// the same label and URL changes nothing; another text with these replaces the earlier one, if there is a URL.
func (p *program) addText(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 || len(args) > 2 {
		return terminal.Usagef("want BASE, and FILE unless the text comes from standard input")
	}
	in, title := p.In, c.String("title")
	if len(args) == 2 {
		f, err := os.Open(args[1])
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it was read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, command.MaxText+1))
	if err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	if len(text) > command.MaxText {
		return fmt.Errorf("the text is over %s", terminal.Bytes(command.MaxText))
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		done, err := b.Ingest(c.Context, api.Ingestion{
			Title: title, Label: c.String("label"), Text: string(convert.UTF8(text)),
			URL: c.String("url"), KB: args[0],
		})
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return p.PrintJSON(done)
		}
		if !done.Changed {
			p.Note("already present")
			return nil
		}
		p.Note("added %s as %s", terminal.Count(done.Passages, "passage"), done.Doc)
		return nil
	})
}

// baseSubjects lists what a base is about, the most frequent subject first.
func (p *program) baseSubjects(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "BASE")
	if err != nil {
		return err
	}
	limit, err := command.LimitOf(c)
	if err != nil {
		return err
	}
	return p.WithSubjects(c.Context, func(b *api.Client) error {
		list, err := b.Subjects(c.Context, name, limit)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, s := range list.Subjects {
			rows = append(rows, []string{strconv.Itoa(s.Passages), s.Name})
		}
		return p.List(c, list, []string{"PASSAGES", "SUBJECT"}, rows)
	})
}

// basePassages lists the passages of a base, which are what search finds of it, with their subjects.
func (p *program) basePassages(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "BASE")
	if err != nil {
		return err
	}
	limit, err := command.LimitOf(c)
	if err != nil {
		return err
	}
	q := api.PassageQuery{KB: name, Subject: c.String("subject"), PassageFilter: api.PassageFilter{
		URL: c.String("url"), Doc: c.String("doc"), Cursor: c.String("cursor"), Limit: min(limit, 100),
	}}
	return p.WithSubjects(c.Context, func(b *api.Client) error {
		list, err := b.Passages(c.Context, q)
		if err != nil {
			return err
		}
		var rows [][]string
		for i := range list.Passages {
			info := &list.Passages[i]
			rows = append(rows, []string{info.ID, info.Heading, strings.Join(info.Subjects, ", ")})
		}
		p.More(c, list.Next)
		return p.List(c, list, []string{"PASSAGE", "HEADING", "SUBJECTS"}, rows)
	})
}

// packBase writes a base into one signed file. The base is looked for before a file is begun.
func (p *program) packBase(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) != 2 {
		return terminal.Usagef("want BASE and FILE")
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		if _, err := b.Base(c.Context, args[0]); err != nil {
			return err
		}
		w := terminal.NewCounted(p.Streams, "written")
		err := wholefile.WriteFrom(args[1], func(f *os.File) error {
			w.To = f
			return b.Pack(c.Context, args[0], w)
		})
		w.Bar.Clear()
		if err != nil {
			return fmt.Errorf("pack %s: %w", args[0], err)
		}
		return p.Done(c, terminal.FileWritten{File: args[1], Bytes: w.Bytes}, "wrote %s", args[1])
	})
}

// unpackBase creates a base of a file that packBase wrote, here or elsewhere. The signer must be known, named, or
// accepted whoever it is.
func (p *program) unpackBase(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "FILE")
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was read
	return p.WithClient(c.Context, func(b *api.Client) error {
		kb, err := b.Unpack(c.Context, f, api.Unpacking{
			Name: c.String("name"), Signer: c.String("signer"),
			AnySigner: c.Bool("any-signer"),
		})
		switch api.CodeOf(err) {
		case api.CodeUnknownSigner:
			return terminal.WithHint(err, "compare the id with the sender's, then pass --signer ID or --any-signer")
		case api.CodeBaseExists, api.CodeBaseBuilding:
			return terminal.WithHint(err, "choose another name with --name")
		}
		if err != nil {
			return err
		}
		return p.Done(c, kb, "created %s: %s in %s", kb.Name, terminal.Count(kb.Passages, "passage"),
			terminal.Count(kb.Documents, "document"))
	})
}

// listJobs lists the jobs that fill bases, with how far each is.
func (p *program) listJobs(list *api.JobList) error {
	var rows [][]string
	for _, j := range list.Jobs {
		rows = append(rows, []string{
			j.ID, j.Kind, j.KB, j.State, fmt.Sprintf("%d/%d", j.I, j.Total), terminal.Day(j.Began),
			j.Error,
		})
	}
	return p.Table([]string{"ID", "KIND", "KB", "STATE", "DONE", "BEGAN", "ERROR"}, rows)
}

// cancelledJob says what became of a job that was to end. What answered before still answers; a base that was filled
// for the first time keeps what was read.
func (p *program) cancelledJob(j *api.Job) error {
	p.Note("%s", j.State)
	return nil
}
