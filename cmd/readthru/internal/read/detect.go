package read

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// detectCommand is the command detect: the URLs of a text with their kinds, in order of appearance.
func (p *program) detectCommand() *cli.Command {
	return &cli.Command{
		Name:      "detect",
		Usage:     "list the URLs in a text with their kinds",
		ArgsUsage: "[TEXT]",
		Flags:     []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			text := strings.Join(c.Args().Slice(), " ")
			if !c.Args().Present() || text == "-" {
				b, err := io.ReadAll(io.LimitReader(p.In, command.MaxText+1))
				if err != nil {
					return fmt.Errorf("read the text: %w", err)
				}
				if len(b) > command.MaxText {
					return fmt.Errorf("the text is over %s", terminal.Bytes(command.MaxText))
				}
				text = string(b)
			}
			found := page.Detect(text)
			if c.Bool("json") {
				if found == nil {
					found = []page.Detected{}
				}
				return p.PrintJSON(api.Detection{URLs: found})
			}
			if len(found) == 0 {
				p.Note("no URL in the text")
				return nil
			}
			var rows [][]string
			for _, d := range found {
				rows = append(rows, []string{string(d.Type), d.Display, d.URL})
			}
			return p.Table([]string{"TYPE", "PAGE", "URL"}, rows)
		},
	}
}
