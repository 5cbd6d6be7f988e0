package memory

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// ListStoreJobs lists the documents that could not be indexed.
func (s *Service) ListStoreJobs(context.Context, api.None) (*api.StoreJobs, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	return &api.StoreJobs{Jobs: append([]knowledge.Job{}, k.Jobs()...)}, nil
}

// GetStoreJob returns a document that could not be indexed.
func (s *Service) GetStoreJob(_ context.Context, ref api.StoreJobRef) (*knowledge.Job, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	jobs := k.Jobs()
	i := slices.IndexFunc(jobs, func(j knowledge.Job) bool { return j.ID == ref.ID })
	if i < 0 {
		return nil, noStoreJob(ref.ID)
	}
	return &jobs[i], nil
}

// RetryStoreJob queues a document that was set aside again.
func (s *Service) RetryStoreJob(ctx context.Context, ref api.StoreJobRef) (*knowledge.Job, error) {
	return s.endStoreJob(ctx, ref, (*knowledge.Knowledge).RetryJob)
}

// DropStoreJob forgets that a document was set aside.
func (s *Service) DropStoreJob(ctx context.Context, ref api.StoreJobRef) (*knowledge.Job, error) {
	return s.endStoreJob(ctx, ref, func(k *knowledge.Knowledge, id string) error { return k.DropJob(ctx, id) })
}

// endStoreJob ends that a document is set aside, and returns what it was.
func (s *Service) endStoreJob(
	ctx context.Context, ref api.StoreJobRef, end func(k *knowledge.Knowledge, id string) error,
) (*knowledge.Job, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	before, err := s.GetStoreJob(ctx, ref)
	if err != nil {
		return nil, err
	}
	err = end(k, ref.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, api.Problem(http.StatusConflict, "document %s is not set aside: it waits for another attempt", ref.ID)
	}
	if err != nil {
		return nil, err
	}
	return before, nil
}

// noStoreJob is the problem of a request for a document that did not fail to be indexed.
func noStoreJob(id string) error {
	return api.Problem(http.StatusNotFound, "no document with the id %s failed to be indexed", id)
}
