package operate

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// storeCommand is the command store: all that is done to the data on disk as a whole.
func (p *program) storeCommand() *cli.Command {
	return &cli.Command{
		Name:  "store",
		Usage: "manage what is kept on disk: backups, exports, the cache, the search index",
		Subcommands: []*cli.Command{
			{
				Name: "compact", Usage: "remove what is left on disk of what was deleted",
				Description: "It rewrites the store, which takes some seconds for each gigabyte. Pages, versions and knowledge " +
					"bases stay. Stored responses that could be pages and are of none are deleted.",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).CompactStore, p.compactedStore),
			},
			p.storeJobsCommand(), p.backupCommand(), p.restoreCommand(), p.exportCommand(), p.cacheCommand(), p.indexCommand(),
		},
	}
}

func (p *program) compactedStore(*api.Compacted) error {
	p.Note("compacted the store")
	return nil
}
