package command

import (
	"context"
	"errors"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// Watch follows a job until it ends, with a bar on a terminal, else with a line now and then. When ctx ends it cancels
// the job.
func (p *Program) Watch(ctx context.Context, b *api.Client, id string) (*api.Job, error) {
	bar := terminal.NewBar(p.Err)
	var last *api.Job
	err := b.WatchJob(ctx, id, func(now api.Job) error {
		last = &now
		bar.Draw(now.I, now.Total, now.URL)
		return nil
	})
	bar.Clear()
	if err != nil && ctx.Err() != nil {
		last, err = b.CancelJob(context.WithoutCancel(ctx), id)
		if err != nil {
			return last, err
		}
		return last, context.Canceled
	}
	if err == nil && last.State != api.JobDone {
		err = errors.New(last.Error)
	}
	if err != nil && (last == nil || last.State == api.JobRunning || last.State == api.JobInterrupted) {
		err = terminal.WithHint(err, "the next daemon continues the job: readthru serve")
	}
	return last, err
}
