package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

func (p *program) detectCommand() *cli.Command {
	return &cli.Command{
		Name:      "detect",
		Usage:     "list the URLs in a text with their kinds",
		ArgsUsage: "[TEXT]",
		Flags:     []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			text := strings.Join(c.Args().Slice(), " ")
			if !c.Args().Present() || text == "-" {
				b, err := io.ReadAll(io.LimitReader(p.in, maxText+1))
				if err != nil {
					return fmt.Errorf("read the text: %w", err)
				}
				if len(b) > maxText {
					return fmt.Errorf("the text is over %s", bytesText(maxText))
				}
				text = string(b)
			}
			found := page.Detect(text)
			if c.Bool("json") {
				if found == nil {
					found = []page.Detected{}
				}
				return p.printJSON(api.Detection{URLs: found})
			}
			if len(found) == 0 {
				p.note("no URL in the text")
				return nil
			}
			var rows [][]string
			for _, d := range found {
				rows = append(rows, []string{string(d.Type), d.Display, d.URL})
			}
			return p.table([]string{"TYPE", "PAGE", "URL"}, rows)
		},
	}
}
