package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/readthru/readthru/knowledge"
)

// Search finds documents by their passages, best first.
func (c *Client) Search(ctx context.Context, q SearchQuery) (*knowledge.Results, error) {
	return call(ctx, c, searchPages, q)
}

// RebuildIndex starts to rebuild the index.
func (c *Client) RebuildIndex(ctx context.Context) (*Job, error) {
	return call(ctx, c, rebuildIndex, None{})
}

// CompactStore removes what is left on disk of what was deleted.
func (c *Client) CompactStore(ctx context.Context) (*Compacted, error) {
	return call(ctx, c, compactStore, None{})
}

// StoreJobs lists the documents that could not be indexed.
func (c *Client) StoreJobs(ctx context.Context) (*StoreJobs, error) {
	return call(ctx, c, listStoreJobs, None{})
}

// StoreJob returns a document that could not be indexed.
func (c *Client) StoreJob(ctx context.Context, id string) (*knowledge.Job, error) {
	return call(ctx, c, getStoreJob, StoreJobRef{id})
}

// RetryStoreJob queues a document that was set aside again, and returns what it was.
func (c *Client) RetryStoreJob(ctx context.Context, id string) (*knowledge.Job, error) {
	return call(ctx, c, retryStoreJob, StoreJobRef{id})
}

// DropStoreJob forgets that a document was set aside, and returns what it was.
func (c *Client) DropStoreJob(ctx context.Context, id string) (*knowledge.Job, error) {
	return call(ctx, c, dropStoreJob, StoreJobRef{id})
}

// Bases lists the knowledge bases.
func (c *Client) Bases(ctx context.Context) (*BaseList, error) {
	return call(ctx, c, listBases, None{})
}

// Base returns a knowledge base.
func (c *Client) Base(ctx context.Context, name string) (*knowledge.Base, error) {
	return call(ctx, c, getBase, BaseRef{name})
}

// BaseDocuments lists the documents of a knowledge base.
func (c *Client) BaseDocuments(ctx context.Context, name, cursor string, limit int) (*DocumentList, error) {
	return call(ctx, c, listDocuments, DocumentQuery{name, limit, cursor})
}

// CreateBase creates a knowledge base and starts to fill it.
func (c *Client) CreateBase(ctx context.Context, n NewBase) (*Filling, error) {
	return call(ctx, c, createBase, n)
}

// FillFromFiles creates a knowledge base of files, or fills it again, from a parcel that [knowledge.PackFiles] writes.
func (c *Client) FillFromFiles(ctx context.Context, q FilesQuery, parcel io.Reader) (*Filling, error) {
	return read[Filling](open(ctx, c, fillFromFiles, q, parcel)) //nolint:bodyclose // read closes it
}

// DeleteBase deletes a knowledge base.
func (c *Client) DeleteBase(ctx context.Context, name string) (*knowledge.Base, error) {
	return call(ctx, c, deleteBase, BaseRef{name})
}

// RefreshBase starts to fill a knowledge base again. A limit of 0 is the base's own.
func (c *Client) RefreshBase(ctx context.Context, name string, limit int) (*Filling, error) {
	return call(ctx, c, refreshBase, RefreshQuery{name, limit})
}

// Subjects lists the subjects of the passages of a knowledge base; of all passages if kb is empty.
func (c *Client) Subjects(ctx context.Context, kb string, limit int) (*SubjectList, error) {
	o := listBaseSubjects
	if kb == "" {
		o = listSubjects
	}
	return call(ctx, c, o, SubjectQuery{kb, limit})
}

// Passage returns a passage, its sources and its annotations.
func (c *Client) Passage(ctx context.Context, id string) (*knowledge.PassageInfo, error) {
	return call(ctx, c, getPassage, PassageRef{id})
}

// Passages lists passages by knowledge base, document, subject and frame.
func (c *Client) Passages(ctx context.Context, q PassageQuery) (*PassageList, error) {
	return call(ctx, c, listPassages, q)
}

// Notes lists notes, oldest first, also by subject and by page.
func (c *Client) Notes(ctx context.Context, q NoteQuery) (*NoteList, error) {
	return call(ctx, c, listNotes, q)
}

// AddNote stores and indexes a note.
func (c *Client) AddNote(ctx context.Context, n NewNote) (*knowledge.Note, error) {
	return call(ctx, c, addNote, n)
}

// DeleteNote deletes a note and its relations.
func (c *Client) DeleteNote(ctx context.Context, id string) error {
	_, err := call(ctx, c, deleteNote, NoteRef{id})
	return err
}

// Relations lists relations by passage, note and type.
func (c *Client) Relations(ctx context.Context, q RelationQuery) (*RelationList, error) {
	return call(ctx, c, listRelations, q)
}

// Relate relates a passage to a note or to another passage.
func (c *Client) Relate(ctx context.Context, r NewRelation) (*knowledge.Relation, error) {
	return call(ctx, c, addRelation, r)
}

// Ingest stores and indexes a text.
func (c *Client) Ingest(ctx context.Context, in Ingestion) (*knowledge.Ingested, error) {
	return call(ctx, c, ingest, in)
}

// Jobs lists the jobs that are remembered, newest first.
func (c *Client) Jobs(ctx context.Context) (*JobList, error) {
	return call(ctx, c, listJobs, None{})
}

// Job returns a job as it is now.
func (c *Client) Job(ctx context.Context, id string) (*Job, error) {
	return call(ctx, c, getJob, JobRef{id})
}

// CancelJob cancels a job and waits until it has ended.
func (c *Client) CancelJob(ctx context.Context, id string) (*Job, error) {
	return call(ctx, c, cancelJob, JobRef{id})
}

// WatchJob calls f with a job as it is now and at each change, until it has ended.
func (c *Client) WatchJob(ctx context.Context, id string, f func(Job) error) error {
	resp, err := open(ctx, c, watchJob, JobRef{id}, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	last := ""
	for dec := json.NewDecoder(resp.Body); ; {
		var now Job
		if err := dec.Decode(&now); err != nil {
			if errors.Is(err, io.EOF) && last != "" && last != JobRunning {
				return nil
			}
			return fmt.Errorf("the daemon ended while the job ran: %w", err)
		}
		last = now.State
		if err := f(now); err != nil {
			return err
		}
	}
}
