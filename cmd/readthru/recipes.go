package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"readthru/api"
	"readthru/recipe"
)

func (p *program) recipeCommand() *cli.Command {
	return &cli.Command{
		Name:  "recipe",
		Usage: "say in a few lines of YAML what of a site's pages is content",
		Description: "A recipe names pages by host, path and an element that they have, and by CSS selectors their\n" +
			"content or its items with their fields. docs/recipes.md has all keys. A recipe holds no code.",
		Subcommands: []*cli.Command{
			{
				Name: "test", Usage: "run the tests of recipes", ArgsUsage: "FILE",
				Description: "A test is a page with lines that must come out of it. Without html in the test, the page is what\n" +
					"is stored of its URL: no origin is asked.",
				Flags: []cli.Flag{jsonFlag()}, Action: p.recipeTest,
			},
		},
	}
}

// readRecipes reads the recipes of a file, or of standard input for "-".
func (p *program) readRecipes(name string) ([]*recipe.Recipe, error) {
	text, err := p.readInput(name, recipe.MaxFile)
	if err != nil {
		return nil, err
	}
	list, err := recipe.Parse(text)
	if mistake, ok := errors.AsType[*recipe.Error](err); ok && mistake.Line > 0 {
		return nil, fmt.Errorf("%s:%d:%d: %w", name, mistake.Line, mistake.Column, mistake.Err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

func (p *program) recipeTest(c *cli.Context) error {
	name, err := oneArg(c.Args().Slice(), "FILE")
	if err != nil {
		return err
	}
	list, err := p.readRecipes(name)
	if err != nil {
		return err
	}
	results := []recipe.Result{}
	run := func(stored recipe.Snapshot) error {
		for _, r := range list {
			more, err := r.Run(c.Context, stored)
			if err != nil {
				return err
			}
			results = append(results, more...)
		}
		return nil
	}
	if needsStore(list) {
		err = p.withClient(c.Context, func(b *api.Client) error {
			return run(func(ctx context.Context, url string) ([]byte, string, error) {
				o, err := b.Original(ctx, url)
				if err != nil {
					return nil, "", err
				}
				return []byte(o.Content), o.ContentType, nil
			})
		})
	} else {
		err = run(nil)
	}
	if err != nil {
		return err
	}
	return p.tested(c, results)
}

// needsStore reports whether a test uses a stored page.
func needsStore(list []*recipe.Recipe) bool {
	for _, r := range list {
		for _, t := range r.Tests {
			if t.HTML == "" {
				return true
			}
		}
	}
	return false
}

// tested prints the results of tests. It fails if one failed.
func (p *program) tested(c *cli.Context, results []recipe.Result) error {
	var b strings.Builder
	failed := 0
	for _, r := range results {
		state := "ok  "
		if !r.Passed {
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
		err = p.printJSON(results)
	} else {
		err = p.print(b.String())
	}
	switch {
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, count(len(results), "test"))
	case len(results) == 0:
		return withHint(errors.New("the recipes have no tests"), "write some: docs/recipes.md has an example")
	}
	return nil
}
