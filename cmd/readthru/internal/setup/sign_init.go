package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/botauth"
)

// signCommand is the command sign: the key by which sites know own requests.
func (p *program) signCommand() *cli.Command {
	return &cli.Command{
		Name: "sign", Usage: "make the key by which sites know readthru's own requests",
		Subcommands: []*cli.Command{{
			Name: "init", Usage: "make the key, and print the document to publish at a URL", ArgsUsage: "[URL]",
			Description: "URL is https://bot.example or that of a key set there (default: fetch.sign.directory). The key is\n" +
				"written to fetch.sign.key, or bot.key in the data directory, and never over another.",
			Flags: []cli.Flag{command.JSONFlag()}, Action: p.initSigning,
		}},
	}
}

// initSigning makes the key that signs own requests, and prints the directory that its origin must publish.
func (p *program) initSigning(c *cli.Context) error {
	s, err := p.Load()
	if err != nil {
		return err
	}
	if c.NArg() > 0 || s.Fetch.Sign.Directory == "" {
		if s.Fetch.Sign.Directory, err = command.OneArg(c.Args().Slice(), "URL"); err != nil {
			return err
		}
	}
	if _, err := botauth.CheckDirectory(s.Fetch.Sign.Directory); err != nil {
		return terminal.Mistake(err)
	}
	file := s.SigningKey(s.DataDir)
	if _, err := os.Lstat(file); err == nil {
		return terminal.WithHint(fmt.Errorf("%s has a key, which stays", file),
			"to have another, move that file away; a daemon that signs answers its document at "+botauth.DirectoryPath+
				" of the admin port")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := settings.MakeDataDir(s.DataDir); err != nil {
		return err
	}
	signer, err := s.Signer(s.DataDir)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return p.PrintJSON(struct {
			File      string          `json:"file"`
			KeyID     string          `json:"key_id"`
			URL       string          `json:"url"`
			Type      string          `json:"type"`
			Directory json.RawMessage `json:"directory"`
		}{file, signer.KeyID(), signer.KeySet(), botauth.DirectoryType, signer.Directory()})
	}
	p.Note("the private key is in %s, for you alone; have %s answer what follows, as %s, and set "+
		"fetch.sign.directory: %s", file, signer.KeySet(), botauth.DirectoryType, signer.Agent())
	return p.Print(string(signer.Directory()))
}
