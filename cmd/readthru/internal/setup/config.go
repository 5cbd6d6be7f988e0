package setup

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// configCommand is the command config: each key with its value and where that comes from. Secrets are masked.
func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "print the configuration with the source of each value",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			s, err := p.LoadAlone(c)
			if err != nil {
				return err
			}
			rows := s.Shown()
			p.unknownVariables(s)
			if c.Bool("json") {
				return p.PrintJSON(rows)
			}
			var cells [][]string
			for _, r := range rows {
				text, err := json.Marshal(r.Value)
				if err != nil {
					return err
				}
				value := string(text)
				if t, ok := r.Value.(string); ok && t != "" {
					value = t
				}
				cells = append(cells, []string{r.Key, value, r.Source})
			}
			// values are not cut: a part would be wrong
			_, err = io.WriteString(p.Out, terminal.Layout([]string{"KEY", "VALUE", "FROM"}, cells, 0))
			return err
		},
	}
}

// unknownVariables warns of environment variables that look like keys but are not: a misspelt one has no effect.
func (p *program) unknownVariables(s *settings.Settings) {
	known := []string{"READTHRU_DATA_DIR", "READTHRU_CONFIG", "READTHRU_SESSION", settings.ReplayVariable}
	for _, l := range s.Leaves() {
		known = append(known, "READTHRU_"+strings.ToUpper(strings.ReplaceAll(l.Path, ".", "_")))
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "READTHRU_") && !slices.Contains(known, name) {
			p.Note("warning: %s is not a key of the configuration", name)
		}
	}
}
