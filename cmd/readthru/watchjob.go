package main

import (
	"context"
	"errors"

	"github.com/readthru/readthru/api"
)

// watch follows a job until it ends, with a bar on a terminal, else with a line now and then. When ctx ends it cancels
// the job.
func (p *program) watch(ctx context.Context, b *api.Client, id string) (*api.Job, error) {
	bar := newBar(p.err)
	var last *api.Job
	err := b.WatchJob(ctx, id, func(now api.Job) error {
		last = &now
		bar.draw(now.I, now.Total, now.URL)
		return nil
	})
	bar.clear()
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
		err = withHint(err, "the next daemon continues the job: readthru serve")
	}
	return last, err
}
