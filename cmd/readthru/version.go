package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// version is set when the program is built for a release: -ldflags "-X main.version=…".
var version = "devel"

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c.Args().Slice()); err != nil {
				return err
			}
			return p.printVersion(c.Bool("json"))
		},
	}
}

func (p *program) printVersion(asJSON bool) error {
	v := struct {
		Version  string `json:"version"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
		Revision string `json:"revision,omitempty"`
	}{version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, revision()}
	if asJSON {
		return p.printJSON(v)
	}
	_, err := fmt.Fprintf(p.out, "readthru %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	return err
}

// revision returns the commit that the program was built from, if the build recorded it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON"} }
