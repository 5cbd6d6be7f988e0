package watch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/recipe"
)

// recipeCommand is the command recipe: site recipes, which say by CSS selectors what of a site's pages is content.
func (p *program) recipeCommand() *cli.Command {
	return &cli.Command{
		Name:  "recipe",
		Usage: "say in a few lines of YAML what of a site's pages is content",
		Description: "A recipe names pages by host, path and an element that they have, and by CSS selectors their\n" +
			"content or its items with their fields. docs/recipes.md has all keys. A recipe holds no code.",
		Subcommands: []*cli.Command{
			{
				Name: "new", Usage: "propose a recipe for pages like one that was read", ArgsUsage: "URL",
				Description: "It prints YAML of what is stored of the page, for you to correct: no origin is asked.",
				Flags:       []cli.Flag{command.JSONFlag()}, Action: p.recipeNew,
			},
			{
				Name: "test", Usage: "run the tests of recipes", ArgsUsage: "[FILE|NAME]",
				Description: "Without an argument it runs those of all recipes. A test is a page with lines that must come\n" +
					"out of it. Without html in the test, the page is what is stored of its URL: no origin is asked.",
				Flags: []cli.Flag{command.JSONFlag()}, Action: p.recipeTest,
			},
			{
				Name: "add", Usage: "add the recipes of a file or URL, after showing what changes", ArgsUsage: "FILE|URL",
				Description: "It asks before it adds them. Recipes one of whose tests fails are not added. Signed recipes need\n" +
					"the key that signed them by name.",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "yes", Usage: "do not ask"},
					&cli.BoolFlag{Name: "dry-run", Usage: "show what changes and add nothing"},
					&cli.StringFlag{
						Name: "signer", Usage: "the `KEY` that signed the recipes, 64 hex digits", DefaultText: "not signed",
					},
					command.JSONFlag(),
				},
				Action: p.recipeAdd,
			},
			{
				Name: "list", Usage: "list the recipes in the order in which they are tried", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).Recipes, p.recipeList),
			},
			{
				Name: "show", Usage: "print a recipe", ArgsUsage: "NAME", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "NAME", (*api.Client).Recipe, p.recipeShow),
			},
			{
				Name: "rm", Usage: "remove a recipe that was added", ArgsUsage: "NAME", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "NAME", (*api.Client).DeleteRecipe, p.recipeRemove),
			},
			{
				Name: "sign", Usage: "print the recipes of a file, signed with this machine's key", ArgsUsage: "FILE",
				Flags: []cli.Flag{command.JSONFlag()}, Action: p.recipeSign,
			},
		},
	}
}

// recipeTexts returns the recipes that an argument names: a URL, or a file whose text is sent.
func (p *program) recipeTexts(arg string) (api.RecipeTexts, error) {
	if isURL(arg) {
		return api.RecipeTexts{URL: arg}, nil
	}
	if _, err := p.ReadRecipes(arg); err != nil { // its mistakes have a place in the file
		return api.RecipeTexts{}, err
	}
	text, err := os.ReadFile(arg)
	return api.RecipeTexts{Text: string(text), From: arg}, err
}

// isURL reports whether an argument is a URL and not a file.
func isURL(arg string) bool {
	return strings.HasPrefix(arg, "https://") || strings.HasPrefix(arg, "http://")
}

// recipeTest runs the tests of recipes: of a file or URL, which its argument is if it has a dot or slash, of a stored
// recipe by its name, or of all.
func (p *program) recipeTest(c *cli.Context) error {
	if c.NArg() > 1 {
		return terminal.Usagef("name one FILE or NAME, or none")
	}
	arg := c.Args().First()
	texts := api.RecipeTexts{Name: arg}
	if isURL(arg) || strings.ContainsAny(arg, "./") {
		var err error
		if texts, err = p.recipeTexts(arg); err != nil {
			return err
		}
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		res, err := b.TestRecipes(c.Context, texts)
		if err != nil {
			return err
		}
		return p.tested(c, res.Tests)
	})
}

// recipeNew prints a recipe for pages like one that is stored. It asks no origin, so the page must have been read.
func (p *program) recipeNew(c *cli.Context) error {
	url, err := command.OneArg(c.Args().Slice(), "URL")
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.ProposedRecipe, error) {
		proposed, err := b.ProposeRecipe(c.Context, url)
		if e, ok := errors.AsType[*api.Error](err); ok && e.Status == http.StatusNotFound {
			err = terminal.WithHint(err, "read the page first: readthru fetch "+url)
		}
		return proposed, err
	}, func(proposed *api.ProposedRecipe) error { return p.Print(proposed.Text) })
}

// recipeAdd adds the recipes of a file or URL. It first asks for a dry run and shows the changes, and adds them only
// after a yes, because a recipe decides what agents read.
func (p *program) recipeAdd(c *cli.Context) error {
	arg, err := command.OneArg(c.Args().Slice(), "FILE or URL")
	if err != nil {
		return err
	}
	texts, err := p.recipeTexts(arg)
	if err != nil {
		return err
	}
	texts.Signer, texts.DryRun = c.String("signer"), true
	return p.WithClient(c.Context, func(b *api.Client) error {
		changes, err := b.AddRecipes(c.Context, texts)
		if err != nil {
			return err
		}
		if !c.Bool("json") {
			p.noteChanges(changes)
		}
		if texts.DryRun = c.Bool("dry-run"); !texts.DryRun {
			ask := terminal.NewAsker(p.Streams, false)
			switch {
			case c.Bool("yes"):
			case !terminal.Is(p.In):
				return terminal.WithHint(errors.New("adding recipes needs a yes, and nobody can be asked here"),
					"run it with --yes")
			case !ask.Yes("Add?", false):
				p.Note("nothing was added")
				return nil
			}
			if changes, err = b.AddRecipes(c.Context, texts); err != nil {
				return err
			}
		}
		if c.Bool("json") {
			return p.PrintJSON(changes)
		}
		if changes.Added {
			return p.Print("added " + terminal.Count(len(changes.Changes), "recipe") + "\n")
		}
		return nil
	})
}

// noteChanges says what adding recipes changes, and how their tests went.
func (p *program) noteChanges(changes *api.RecipeChanges) {
	if changes.Signer != "" {
		p.Note("signed by %s", changes.Signer)
	}
	for _, ch := range changes.Changes {
		p.Note("recipe %s: %s", ch.Name, ch.State)
		for line := range strings.Lines(ch.Diff) {
			// there is no other place for an error
			_, _ = io.WriteString(p.Err, terminal.Printable(strings.TrimRight(line, "\n"))+"\n")
		}
	}
	for _, t := range changes.Tests {
		if !t.Passed {
			p.Note("test of %s in line %d: %s", t.Recipe, t.Line, strings.Join(t.Failures, "; "))
		}
	}
}

// recipeList lists the recipes, each with where it comes from, and why if it is not used.
func (p *program) recipeList(list *api.SiteRecipeList) error {
	var rows [][]string
	for _, r := range list.Recipes {
		about := r.About
		if r.Error != "" {
			about = "not used: " + r.Error
		}
		rows = append(rows, []string{
			r.Name, r.Source, terminal.OrDash(r.Host), terminal.OrDash(r.Path),
			fmt.Sprint(r.Tests), terminal.OrDash(about),
		})
	}
	return p.Table([]string{"NAME", "FROM", "HOST", "PATH", "TESTS", "ABOUT"}, rows)
}

// recipeShow prints the YAML of a recipe by its name.
func (p *program) recipeShow(r *api.SiteRecipe) error {
	return p.Print(r.Text)
}

// recipeRemove deletes a recipe that was added.
func (p *program) recipeRemove(gone *api.Gone) error {
	return p.Print("removed recipe " + gone.Deleted + "\n")
}

// recipeSign prints the recipes of a file with a signature by the key that signs packs of knowledge bases. The signer's
// id goes to standard error, so that the output can be written to a file.
func (p *program) recipeSign(c *cli.Context) error {
	name, err := command.OneArg(c.Args().Slice(), "FILE")
	if err != nil {
		return err
	}
	texts, err := p.recipeTexts(name)
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.SignedRecipes, error) {
		return b.SignRecipes(c.Context, texts)
	}, func(signed *api.SignedRecipes) error {
		p.Note("signed by %s", signed.Signer)
		return p.Print(signed.Text)
	})
}

// tested prints the results of tests. It fails if one failed.
func (p *program) tested(c *cli.Context, results []recipe.Result) error {
	var b strings.Builder
	failed, skipped := 0, 0
	for _, r := range results {
		state := "ok  "
		switch {
		case r.Skipped:
			state = "skip"
			skipped++
		case !r.Passed:
			state = "FAIL"
			failed++
		}
		fmt.Fprintf(&b, "%s %s %s (line %d)", state, r.Recipe, r.URL, r.Line)
		if r.Used != "" {
			b.WriteString(": " + r.Used)
		}
		b.WriteByte('\n')
		for _, f := range r.Failures {
			b.WriteString("     " + f + "\n")
		}
	}
	var err error
	if c.Bool("json") {
		err = p.PrintJSON(results)
	} else {
		err = p.Print(b.String())
	}
	switch {
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, terminal.Count(len(results), "test"))
	case len(results) > 0 && skipped == len(results):
		return errors.New("no test was run: nothing is stored of their pages")
	case len(results) == 0:
		return terminal.WithHint(errors.New("the recipes have no tests"), "write some: docs/recipes.md has an example")
	}
	return nil
}
