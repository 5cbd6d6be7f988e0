package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Names in the directory of a Journal.
const (
	journalName = "doing.json"
	crashName   = "crash.txt"      // what this process writes when it crashes
	lastName    = "crash.last.txt" // what the last one that crashed wrote
)

// soon is how long after its start a process may crash for the next one to leave closed what crashed it.
const soon = time.Minute

// What a death while a job was being done counts: a crash of ours, or an end that says nothing, such as kill -9, which
// may be the machine's answer to the memory that the job took. A job whose deaths come to enough is poison.
const (
	crashCounts  = 3
	silentCounts = 2
	enough       = 6
)

// maxDeaths bounds the jobs whose deaths are kept.
const maxDeaths = 10_000

// A Journal keeps in a file what a process is doing that may end it, and has Go write there what it crashes of. It is
// safe for concurrent use. A nil Journal keeps nothing.
type Journal struct {
	dir   string
	crash *os.File
	last  LastEnd

	mu  sync.Mutex
	now doing
}

// doing is the content of the file.
type doing struct {
	Started time.Time           `json:"started"`
	Jobs    map[string][]string `json:"jobs,omitempty"`   // ids by work
	Deaths  map[string]int      `json:"deaths,omitempty"` // what deaths came to while a job was being done, by work and id
}

// LastEnd says how the last process with the directory ended.
type LastEnd struct {
	Clean   bool   // it closed its Journal, or there was none
	Crashed bool   // it wrote why: a fatal error, or a panic that was not contained
	Soon    bool   // it crashed within a minute after its start
	Trace   string // with Crashed: what it wrote, 64 KiB at most
	File    string // with Crashed: the file with all of that
}

// In reports whether the goroutine that crashed ran code of a package.
func (e *LastEnd) In(pkg string) bool {
	stack := e.stack()
	return strings.Contains(stack, "/"+pkg+".") || strings.Contains(stack, "/"+pkg+"/")
}

// stack returns the stack of the goroutine that crashed, which is the first one.
func (e *LastEnd) stack() string {
	for part := range strings.SplitSeq(e.Trace, "\n\n") {
		if strings.HasPrefix(part, "goroutine ") {
			return part
		}
	}
	return ""
}

// Cause says in a line what the process crashed of. It is empty if it did not.
func (e *LastEnd) Cause() string {
	for line := range strings.Lines(e.Trace) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	if lines := strings.SplitN(e.stack(), "\n", 3); len(lines) > 1 {
		return "fatal error in " + lines[1]
	}
	return strings.TrimSpace(e.Trace[:min(len(e.Trace), maxCause)])
}

// OpenJournal opens the Journal of a process in a directory, which no other process has open. At most one is open in a
// process: crashes are written for the last one opened.
func OpenJournal(dir string, now time.Time) (*Journal, error) {
	j := &Journal{dir: dir, now: doing{Started: now.UTC(), Jobs: map[string][]string{}, Deaths: map[string]int{}}}
	before, err := j.readBefore()
	if err != nil {
		return nil, err
	}
	if len(before.Deaths) < maxDeaths {
		maps.Copy(j.now.Deaths, before.Deaths)
	}
	for work, jobs := range before.Jobs {
		for _, id := range jobs {
			if j.last.Crashed {
				j.now.Deaths[work+" "+id] += crashCounts
			} else {
				j.now.Deaths[work+" "+id] += silentCounts
			}
		}
	}
	if j.crash, err = os.OpenFile(j.path(crashName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("open the file for crashes: %w", err)
	}
	if err := debug.SetCrashOutput(j.crash, debug.CrashOptions{}); err != nil {
		return nil, errors.Join(fmt.Errorf("open the file for crashes: %w", err), j.crash.Close())
	}
	return j, j.write()
}

// readBefore reads what the last process left. A file that cannot be understood is as none: it is no reason not to
// start.
func (j *Journal) readBefore() (before doing, err error) {
	text, err := os.ReadFile(j.path(journalName))
	if errors.Is(err, fs.ErrNotExist) {
		j.last.Clean = true
		return before, nil
	}
	if err != nil {
		return before, fmt.Errorf("read what the last process was doing: %w", err)
	}
	_ = json.Unmarshal(text, &before)
	f, err := os.Open(j.path(crashName))
	if err != nil {
		return before, nil // it did not crash, or cannot say so
	}
	defer f.Close() //nolint:errcheck // it was only read
	trace := make([]byte, 64<<10)
	n, _ := f.Read(trace)
	if n == 0 {
		return before, nil
	}
	j.last.Crashed, j.last.Trace = true, string(trace[:n])
	if at, err := f.Stat(); err == nil {
		j.last.Soon = at.ModTime().Sub(before.Started) < soon
	}
	j.last.File = j.path(lastName)
	return before, os.Rename(j.path(crashName), j.last.File)
}

// path returns the path of the journal's file.
func (j *Journal) path(name string) string { return filepath.Join(j.dir, name) }

// Last returns how the last process ended. It is clean for a nil Journal.
func (j *Journal) Last() LastEnd {
	if j == nil {
		return LastEnd{Clean: true}
	}
	return j.last
}

// Begin notes that jobs are being done until done is called. Jobs are named by their ids, which are unique in the work.
// Where the file cannot be written, as on a full disk, a death is not blamed on them.
func (j *Journal) Begin(work string, jobs ...string) (done func()) {
	if j == nil || len(jobs) == 0 {
		return func() {}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now.Jobs[work] = jobs
	_ = j.write() // as said above
	return func() { j.Forget(work, jobs...) }
}

// Forget forgets that jobs are being done, and that processes died of them.
func (j *Journal) Forget(work string, jobs ...string) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.now.Jobs, work)
	for _, id := range jobs {
		delete(j.now.Deaths, work+" "+id)
	}
	_ = j.write() // as in Begin
}

// Suspect reports whether a process died while a job was being done, so that it is to be done alone; poison says that
// it happened so often that it is not to be done at all.
func (j *Journal) Suspect(work, job string) (suspect, poison bool) {
	if j == nil {
		return false, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.now.Deaths[work+" "+job]
	return n > 0, n >= enough
}

// write writes the file. A crash of the process leaves the old one or the new one; the machine's need not be survived.
func (j *Journal) write() error { return Catch("fault: note what is being done", j.writeFile) }

func (j *Journal) writeFile() error {
	text, err := json.Marshal(j.now)
	if err != nil {
		return fmt.Errorf("note what is being done: %w", err)
	}
	temporary := j.path(journalName + ".new")
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return fmt.Errorf("note what is being done: %w", err)
	}
	if err := os.Rename(temporary, j.path(journalName)); err != nil {
		return fmt.Errorf("note what is being done: %w", err)
	}
	return nil
}

// Close says that the process ends as it should.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	err := debug.SetCrashOutput(nil, debug.CrashOptions{})
	err = errors.Join(err, j.crash.Close(), remove(j.path(crashName)))
	if len(j.now.Deaths) == 0 {
		return errors.Join(err, remove(j.path(journalName)))
	}
	j.now.Jobs = map[string][]string{} // suspects that were not done stay suspects
	return errors.Join(err, j.write())
}

// remove removes a file of the journal, unless it is gone, as when somebody has removed the whole directory.
func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
