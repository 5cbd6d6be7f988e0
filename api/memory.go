package api

import (
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// NewNote is a note to store, such as a finding of an agent.
type NewNote struct {
	Text     string        `json:"text"`
	Label    string        `json:"label,omitempty"`
	Metadata page.Metadata `json:"metadata,omitempty"` // strings, numbers and booleans
	Subjects []string      `json:"subjects,omitempty"` // beside those that its text names
	Pages    []string      `json:"pages,omitempty"`    // URLs of the pages it is about, beside those in its text
}

// NewRelation relates a passage to either a note or another passage.
type NewRelation struct {
	Passage string  `path:"id" json:"-"`
	Note    string  `json:"note,omitempty"`
	Other   string  `json:"other,omitempty"`
	Type    string  `json:"type"`             // lower-case letters, digits and _-
	Weight  float64 `json:"weight,omitempty"` // default 1
}

// NoteList is a part of the notes, oldest first. Next is empty at the end.
type NoteList struct {
	Notes []knowledge.Note `json:"notes"`
	Next  string           `json:"next,omitempty"`
}

// NoteQuery selects notes. The zero value selects all.
type NoteQuery struct {
	Subject string `query:"subject" doc:"only notes about this subject"`
	URL     string `query:"url" doc:"only notes about the page with this URL"`
	Cursor  string `query:"cursor"`
	Limit   int    `query:"limit" range:"1,500"`
}

// PassageFilter is what every list of passages can be limited by.
type PassageFilter struct {
	Frame  string `query:"frame" doc:"only passages with a statement of this frame, such as CAUSAL"`
	URL    string `query:"url" doc:"only of the document with this URL"`
	Doc    string `query:"doc" doc:"only of the document with this id"`
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" range:"1,500" doc:"how many at most, 1 to 100; default 20"`
}

// PassageList is a part of a list of passages. Next is empty at the end.
type PassageList struct {
	Passages []knowledge.PassageInfo `json:"passages"`
	Next     string                  `json:"next,omitempty"`
}

// PassageQuery selects passages: at least one of Subject, KB, Frame, URL and Doc is needed, and all that are given
// hold.
type PassageQuery struct {
	Subject string `query:"subject" doc:"only passages about this subject"`
	KB      string `query:"kb" doc:"only of this knowledge base"`
	PassageFilter
}

// RelationList holds relations.
type RelationList struct {
	Relations []knowledge.Relation `json:"relations"`
}

// RelationQuery selects relations: at least one of the first three is needed, and all that are given hold.
type RelationQuery struct {
	Passage string `query:"passage" doc:"only of this passage"`
	Note    string `query:"note" doc:"only to this note"`
	Type    string `query:"type" doc:"only of this type"`
	Limit   int    `query:"limit" range:"1,500"`
}

// SubjectList holds the subjects of passages, the most frequent first.
type SubjectList struct {
	Subjects []knowledge.Subject `json:"subjects"`
}

// SubjectQuery asks for the subjects of passages. The zero value asks for the most frequent of all passages.
type SubjectQuery struct {
	KB    string `path:"name"` // only of this knowledge base
	Limit int    `query:"limit" range:"1,500"`
}

type (
	// SubjectPassages is a PassageQuery whose path names the subject.
	SubjectPassages struct {
		Subject string `path:"subject"`
		KB      string `query:"kb" doc:"only of this knowledge base"`
		PassageFilter
	}
	// BasePassages is a PassageQuery whose path names the knowledge base.
	BasePassages struct {
		KB      string `path:"name"`
		Subject string `query:"subject" doc:"only passages about this subject"`
		PassageFilter
	}
)

// ListQuery asks for a part of a list.
type ListQuery struct {
	Limit  int    `query:"limit" range:"1,500"`
	Cursor string `query:"cursor"`
}

// NoteRef names a note.
type NoteRef struct {
	ID string `path:"id"`
}

// PassageRef names a passage.
type PassageRef struct {
	ID string `path:"id"`
}

// PassageRelations is a RelationQuery whose path names the passage.
type PassageRelations struct {
	Passage string `path:"id"`
	Note    string `query:"note" doc:"only to this note"`
	Type    string `query:"type" doc:"only of this type"`
	Limit   int    `query:"limit" range:"1,500"`
}

// FilesQuery says of what base a parcel of files is. Paths are what the user named: they are kept, so that the command
// line can send the files again, and this server reads none of them.
type FilesQuery struct {
	Name        string   `path:"name"`
	Description string   `query:"description" doc:"description of the new base"`
	Paths       []string `query:"path" doc:"absolute path of a file or folder that the user named, repeatable"`
	Refresh     bool     `query:"refresh" doc:"1: fill a base of files again, which then exists"`
}

// Ingestion is a text to store (rule A21). Storing the same label and text again changes nothing.
type Ingestion struct {
	Title string `json:"title,omitempty"`
	Label string `json:"label,omitempty"` // its source, such as context7-next.js
	Text  string `json:"text"`            // markdown
	// where the text comes from: a later text with the same label and URL replaces it
	URL      string        `json:"url,omitempty"`
	Metadata page.Metadata `json:"metadata,omitempty"` // strings, numbers and booleans
	KB       string        `json:"kb,omitempty"`       // knowledge base to put it into; default none
}

// Job is work that outlives the request that started it. The store keeps its last state: a daemon that ends leaves its
// jobs to the next, which continues them under the same id.
type Job struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"` // crawl, scrape, file or rebuild
	KB      string    `json:"kb,omitempty"`
	State   string    `json:"state"` // JobRunning, JobDone, JobFailed, JobCancelled or JobInterrupted
	I       int       `json:"i"`     // items done so far
	Total   int       `json:"total"` // items known so far; 0 if unknown
	URL     string    `json:"url,omitempty"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	Error   string    `json:"error,omitempty"`
	Resumed bool      `json:"resumed,omitempty"` // it continues an interrupted job

	Documents int                 `json:"documents"`           // of the base, once it is done
	Passages  int                 `json:"passages"`            // likewise (rule D12)
	Outcomes  map[string]int      `json:"outcomes,omitempty"`  // of a crawl's URLs
	Kept      int                 `json:"kept,omitempty"`      // documents that a refresh could not read and kept
	NotTaken  int                 `json:"not_taken,omitempty"` // number of files and lines skipped
	Skipped   []knowledge.Skipped `json:"skipped,omitempty"`   // the first hundred of them, with the reason
	Remarks   []string            `json:"remarks,omitempty"`   // what a crawl left out, in words
	Failures  []string            `json:"failures,omitempty"`  // the first hundred URLs that failed, with the reason
}

// JobList holds the jobs known, newest first.
type JobList struct {
	Jobs []Job `json:"jobs"`
}

// States of a Job.
const (
	JobRunning     = "running"
	JobDone        = "done"
	JobFailed      = "failed"
	JobCancelled   = "cancelled"
	JobInterrupted = "interrupted" // by the end of the daemon: the next daemon continues it
)

// JobRef names a job.
type JobRef struct {
	ID string `path:"id"`
}

// BaseList holds the knowledge bases by name.
type BaseList struct {
	KBs []knowledge.Base `json:"kbs"`
}

// DocumentList is a part of a base's documents. Next is empty at the end.
type DocumentList struct {
	Documents []knowledge.Entry `json:"documents"`
	Next      string            `json:"next,omitempty"`
}

// Filling is a base with the job that fills it.
type Filling struct {
	KB  knowledge.Base `json:"kb"`
	Job *Job           `json:"job,omitempty"` // nil for a base of texts
}

// NewBase asks for a knowledge base: its name and its source. At most one of Crawl and Scrape is given; without them
// the base is for texts that are ingested. For a base of files see [FilesQuery].
type NewBase struct {
	Name        string   `json:"name"` // lower-case letters, digits and ._-
	Description string   `json:"description,omitempty"`
	Crawl       string   `json:"crawl,omitempty"`   // URL at which a crawl starts
	Scrape      string   `json:"scrape,omitempty"`  // URL of a single page
	Limit       int      `json:"limit,omitempty"`   // most pages of a crawl; default 1000
	Depth       int      `json:"depth,omitempty"`   // most links from the start; default any
	Include     []string `json:"include,omitempty"` // patterns of paths, "re:" before a regular expression
	Exclude     []string `json:"exclude,omitempty"`
	// crawl service: local or firecrawl; default as configured
	Service string `json:"service,omitempty"`
}

// BaseRef names a knowledge base.
type BaseRef struct {
	Name string `path:"name"`
}

// DocumentQuery asks for the documents of a knowledge base.
type DocumentQuery struct {
	Name   string `path:"name"`
	Limit  int    `query:"limit" range:"1,500"`
	Cursor string `query:"cursor"`
}

// RefreshQuery asks to fill a knowledge base again.
type RefreshQuery struct {
	Name  string `path:"name"`
	Limit int    `query:"limit" range:"1" doc:"most pages of this crawl; default: the limit of the base"`
}

// Unpacking says how to unpack a pack.
type Unpacking struct {
	Name      string `query:"name" doc:"name of the new base; default: as in the pack"`
	Signer    string `query:"signer" doc:"id of a signer to trust"`
	AnySigner bool   `query:"any_signer" doc:"1: trust every signer"`
}

// SearchQuery asks for documents by their passages. Text or Subject is required.
type SearchQuery struct {
	Text    string    `query:"q" doc:"words, \"phrases\" and prefixes*; may be empty with a subject"`
	KB      string    `query:"kb" doc:"only this knowledge base"`
	Subject string    `query:"subject" doc:"only passages and notes about this subject"`
	Host    string    `query:"host" doc:"only this host"`
	Kind    string    `query:"kind" doc:"only this url_type, or file, text or note"`
	Since   time.Time `query:"since" doc:"fetched since a day, a time, or an age (36h, 7d)"`
	Limit   int       `query:"limit" range:"1,500" doc:"how many at most, 1 to 500; default 5"`
	// Metadata are values that ingested texts must have, each as name=value.
	Metadata []string `query:"metadata" doc:"only ingested texts with this metadata, as name=value; may be repeated"`
	Chars    int      `query:"chars" range:"100,4000" doc:"characters of the first passage, 100 to 4000; default 300"`
	Explain  bool     `query:"explain" doc:"1: add the score of each term"`
}

// Since parses a time: RFC 3339, a day, or an age (36h, 7d) before now. An empty text is the zero time.
func Since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := journal.ParseSince(text, now)
	if err != nil {
		return time.Time{}, Problem(http.StatusBadRequest, "since %s", err)
	}
	return at, nil
}
