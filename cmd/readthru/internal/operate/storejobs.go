package operate

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/knowledge"
)

// storeJobsCommand is the command store jobs: documents whose indexing failed.
func (p *program) storeJobsCommand() *cli.Command {
	return &cli.Command{
		Name:  "jobs",
		Usage: "show documents that could not be indexed, try them again, or forget them",
		Description: "A document that cannot be indexed is tried three times more, with growing pauses, and then set aside " +
			"with the reason. It stays stored and readable, but search does not find it as it is now.",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the documents that wait for another attempt, and those set aside",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).StoreJobs, p.listStoreJobs),
			},
			{
				Name: "show", Usage: "print why a document could not be indexed", ArgsUsage: "ID",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "ID", (*api.Client).StoreJob, p.printStoreJob),
			},
			{
				Name: "retry", Usage: "try a document that was set aside again", ArgsUsage: "ID",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "ID", (*api.Client).RetryStoreJob, p.sayStoreJob("it is tried again")),
			},
			p.dropStoreJob("rm"), p.Former(p.dropStoreJob("drop"), "store jobs rm"),
		},
	}
}

func (p *program) dropStoreJob(name string) *cli.Command {
	return &cli.Command{
		Name: name, Usage: "forget a document that was set aside, until it changes", ArgsUsage: "ID",
		Flags:  []cli.Flag{command.JSONFlag()},
		Action: command.One(p.Program, "ID", (*api.Client).DropStoreJob, p.sayStoreJob("it was dropped")),
	}
}

// listStoreJobs lists the documents that wait for another attempt, and those that were set aside, each with the reason.
func (p *program) listStoreJobs(list *api.StoreJobs) error {
	if len(list.Jobs) == 0 {
		return p.Print("every document was indexed\n")
	}
	var rows [][]string
	for _, j := range list.Jobs {
		rows = append(rows, []string{j.ID, j.State, strconv.Itoa(j.Attempts), j.URL, j.Error})
	}
	return p.Table([]string{"ID", "STATE", "ATTEMPTS", "URL", "REASON"}, rows)
}

func (p *program) printStoreJob(j *knowledge.Job) error {
	when := "last tried"
	if j.State == knowledge.JobWaiting {
		when = "tried again"
	}
	return p.Print(fmt.Sprintf("%s  %s\n%s after %d attempts, %s %s\n%s\n", j.ID, j.URL, j.State, j.Attempts, when,
		terminal.Day(j.Time), j.Error))
}

func (p *program) sayStoreJob(what string) func(*knowledge.Job) error {
	return func(j *knowledge.Job) error { return p.Print(j.ID + "  " + j.URL + ": " + what + "\n") }
}
