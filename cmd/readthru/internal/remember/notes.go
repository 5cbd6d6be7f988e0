package remember

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// notesCommand is the command notes: what agents and people found out, which search finds with the pages it is about.
func (p *program) notesCommand() *cli.Command {
	return &cli.Command{
		Name:  "notes",
		Usage: "manage notes, which are searched with the pages they are about",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the notes, oldest first", Action: p.listNotes,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "subject", Usage: "only notes about `SUBJECT`"},
					&cli.StringFlag{Name: "url", Usage: "only notes about the page at `URL`"},
					command.LimitFlag(), command.CursorFlag(), command.JSONFlag(),
				},
			},
			{
				Name: "add", Usage: "keep a note", ArgsUsage: "[TEXT…]",
				Description: "The text comes from standard input when none is given.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "label", Usage: "`TITLE` of the note"},
					&cli.StringSliceFlag{Name: "subject", Usage: "`SUBJECT` it is about, beside those that its text names"},
					&cli.StringSliceFlag{Name: "url", Usage: "`URL` of a page it is about, beside those in its text"},
					command.JSONFlag(),
				},
				Action: p.addNote,
			},
			{
				Name: "rm", Usage: "delete a note and its relations", ArgsUsage: "NOTE", Flags: []cli.Flag{command.JSONFlag()},
				Action: p.removeNote,
			},
		},
	}
}

// listNotes lists the notes about a subject or a page, or all, each on one line.
func (p *program) listNotes(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	limit, err := command.LimitOf(c)
	if err != nil {
		return err
	}
	q := api.NoteQuery{Subject: c.String("subject"), URL: c.String("url"), Cursor: c.String("cursor"), Limit: limit}
	return p.WithSubjects(c.Context, func(b *api.Client) error {
		list, err := b.Notes(c.Context, q)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, n := range list.Notes {
			rows = append(rows, []string{
				n.ID, terminal.Day(n.CreatedAt), strings.Join(n.Subjects, ", "), strings.Join(strings.Fields(n.Text), " "),
			})
		}
		p.More(c, list.Next)
		return p.List(c, list, []string{"ID", "KEPT", "SUBJECTS", "TEXT"}, rows)
	})
}

// addNote keeps a note, whose text is the arguments or standard input.
func (p *program) addNote(c *cli.Context) error {
	text := strings.Join(c.Args().Slice(), " ")
	if text == "" {
		in, err := io.ReadAll(io.LimitReader(p.In, command.MaxText))
		if err != nil {
			return fmt.Errorf("read the text: %w", err)
		}
		text = string(in)
	}
	if strings.TrimSpace(text) == "" {
		return terminal.WithHint(terminal.Usagef("TEXT is missing"),
			`readthru notes add "what was found out" --url https://example.com/`)
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		n, err := b.AddNote(c.Context, api.NewNote{
			Text: text, Label: c.String("label"), Subjects: c.StringSlice("subject"), Pages: c.StringSlice("url"),
		})
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return p.PrintJSON(n)
		}
		p.Note("kept as %s", n.ID)
		return nil
	})
}

// removeNote deletes a note with its relations.
func (p *program) removeNote(c *cli.Context) error {
	id, err := command.OneArg(c.Args().Slice(), "NOTE")
	if err != nil {
		return err
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		if err := b.DeleteNote(c.Context, id); err != nil {
			return err
		}
		return p.Done(c, command.IsDeleted{Deleted: true}, "deleted %s", id)
	})
}
