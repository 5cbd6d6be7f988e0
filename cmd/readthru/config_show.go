package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "print the configuration with the source of each value",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			s, err := p.loadAlone(c)
			if err != nil {
				return err
			}
			rows := s.shown()
			p.unknownVariables(s)
			if c.Bool("json") {
				return p.printJSON(rows)
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
			_, err = io.WriteString(p.out, layout([]string{"KEY", "VALUE", "FROM"}, cells, 0))
			return err
		},
	}
}

// unknownVariables warns of environment variables that look like keys but are not: a misspelt one has no effect.
func (p *program) unknownVariables(s *settings) {
	known := []string{"READTHRU_DATA_DIR", "READTHRU_CONFIG", "READTHRU_SESSION", replayVariable}
	for _, l := range s.leaves() {
		known = append(known, "READTHRU_"+strings.ToUpper(strings.ReplaceAll(l.path, ".", "_")))
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "READTHRU_") && !slices.Contains(known, name) {
			p.note("warning: %s is not a key of the configuration", name)
		}
	}
}
