package firecrawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// The maximum sizes of documents, in bytes. Tests lower them.
var (
	maxResults = int64(256 << 20) // of one job, on disk
	maxAll     = int64(1 << 30)   // of all jobs, on disk
	maxPrivate = int64(16 << 20)  // of the private documents of one job, in memory
)

var (
	errResults = errors.New("the job's documents exceed the maximum size")
	errPrivate = errors.New("the page must not be written to disk, and the job has no memory left for such pages")
)

// results holds the documents of a job, in order. They are in a file without a name, which no other program can open;
// private documents are in memory. It is not safe for concurrent use.
type results struct {
	f       *os.File
	name    string
	size    int64
	all     *atomic.Int64 // bytes on disk of all jobs
	parts   []part
	private int64
}

// part says where a document is: in memory or in the file.
type part struct {
	at, size int64
	memory   []byte
}

// newResults returns empty results of a job: a file that has no name any more, where the system allows that, so that a
// kill leaves nothing.
func newResults(dir string, all *atomic.Int64) (*results, error) {
	f, err := os.CreateTemp(dir, "firecrawl-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("create a file for the job's documents: %w", err)
	}
	_ = os.Remove(f.Name()) // fails where an open file cannot be removed; close removes it there
	return &results{f: f, name: f.Name(), all: all}, nil
}

// add appends a document to the results of a job. A private one stays in memory: it must not be on disk. The error is
// errPrivate or errResults if there is no room for it.
func (r *results) add(d *document) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write a document: %w", err)
	}
	n := int64(len(text))
	if d.private {
		if r.private+n > maxPrivate {
			return errPrivate
		}
		r.private += n
		r.parts = append(r.parts, part{size: n, memory: text})
		return nil
	}
	if r.size+n > maxResults || r.all.Add(n) > maxAll {
		if r.size+n <= maxResults {
			r.all.Add(-n)
		}
		return errResults
	}
	if _, err := r.f.WriteAt(text, r.size); err != nil {
		r.all.Add(-n)
		return fmt.Errorf("write a document: %w", err)
	}
	r.parts = append(r.parts, part{at: r.size, size: n})
	r.size += n
	return nil
}

// read returns up to limit documents after the first skip ones. They have at most most bytes together, except that
// there is always one.
func (r *results) read(skip, limit int, most int64) ([]json.RawMessage, error) {
	list := []json.RawMessage{}
	for i := skip; i < len(r.parts) && len(list) < limit; i++ {
		p := r.parts[i]
		if most -= p.size; most < 0 && len(list) > 0 {
			break
		}
		text := p.memory
		if text == nil {
			text = make([]byte, p.size)
			if _, err := r.f.ReadAt(text, p.at); err != nil {
				return nil, fmt.Errorf("read a document: %w", err)
			}
		}
		list = append(list, text)
	}
	return list, nil
}

// close deletes the documents.
func (r *results) close() {
	r.all.Add(-r.size)
	_ = r.f.Close()
	_ = os.Remove(r.name)
	r.parts, r.size, r.private = nil, 0, 0
}
