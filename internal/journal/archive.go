package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options configures a Journal. The zero value keeps requests in memory alone.
type Options struct {
	// Dir is the directory of the files in which requests are kept beyond memory. If empty, there are none.
	Dir string
	// Days is for how many days requests are kept in files, beside the present one.
	Days int
	// Last is how many of the last requests at least are kept in files, however old they are. If it and Days are 0, none
	// are added, and those that are kept can be read.
	Last int
	// MaxSize limits the files, in bytes: the oldest go first. If zero, 256 MiB.
	MaxSize int64
	// Full, if not nil, reports that nothing may be written now.
	Full func() bool
	Log  *slog.Logger // if nil, nothing is logged
}

// The sizes of an archive's files, in bytes.
const (
	segmentSize = 1 << 20  // after which the next file begins
	longestFile = 64 << 20 // a longer one is not ours
)

// perList is how many requests are decoded for one part of a list: a filter that is not seen to match little gives
// parts that are short.
const perList = 20000

// When Days is 0, what is kept in files may be a few seconds behind what is told, so that a busy process writes each of
// its requests at most once, and most of them never.
const (
	maxFiles = 256             // of the last requests: processes that told of little have small files
	few      = 256             // requests are written within a second
	lazy     = 5 * time.Second // after which more are
)

// keeps reports whether requests are written.
func (o *Options) keeps() bool { return o.Days > 0 || o.Last > 0 }

// archive keeps requests in files of a directory, each line of which is an [Entry] in JSON. Their names begin with a
// number that grows, and tell the day and the process. A process adds to files of its own alone, so that a line that a
// crash cut off is the last one of its file.
type archive struct {
	o   Options
	log *slog.Logger

	mu   sync.Mutex // of all that follows, and of removals
	file *os.File   // nil: the next entry begins one
	now  segment
	size int64
	last uint64            // number of the last request that was written
	bad  bool              // the last write did not succeed, which was logged
	told map[cutError]bool // files of which it was said that their last request is cut off

	wrote time.Time // when requests were written last
}

// segment is a file of an archive.
type segment struct {
	name string
	seq  int
	day  string // in which it was begun
	run  uint32
}

const dayForm = "20060102"

// segments lists the files of requests by their names (number, day, run), the oldest first. Other files in the
// directory are left alone.
func (a *archive) segments() (list []segment, err error) {
	files, err := os.ReadDir(a.o.Dir) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range files {
		parts := strings.Split(strings.TrimSuffix(f.Name(), ".jsonl"), "-")
		if len(parts) != 3 || !strings.HasSuffix(f.Name(), ".jsonl") {
			continue
		}
		seq, err := strconv.Atoi(parts[0])
		run, rerr := strconv.ParseUint(parts[2], 16, 32)
		if err != nil || rerr != nil {
			continue
		}
		list = append(list, segment{f.Name(), seq, parts[1], uint32(run)})
	}
	return list, nil
}

// read returns the lines of a file. A line without an end was not written whole, and is left out.
func (a *archive) read(s segment) ([][]byte, error) {
	b, err := a.readAll(s)
	return linesOf(b), err
}

// linesOf cuts a file into its lines.
func linesOf(b []byte) [][]byte {
	if b == nil {
		return nil
	}
	lines := bytes.Split(b, []byte("\n"))
	return lines[:len(lines)-1]
}

// readAll returns the whole content of a file of requests, unless it is longer than any that this program writes.
func (a *archive) readAll(s segment) ([]byte, error) {
	name := filepath.Join(a.o.Dir, s.name)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > longestFile {
		return nil, fmt.Errorf("%d bytes are more than a file of requests has", info.Size())
	}
	return os.ReadFile(name)
}

// readEntry reads a line of a file. The programs that named no door told of the proxy's requests alone.
func readEntry(line []byte, e *Entry) error {
	err := json.Unmarshal(line, e)
	e.Door = cmp.Or(e.Door, DoorProxy)
	return err
}

// place says where a request stands: in which process, and as which of its requests.
type place struct {
	run uint32
	n   uint64
}

// placeOf reads the id of a request: the process that took it (8 hex digits), and its number there. ok is false if it
// is none.
func placeOf(id string) (p place, ok bool) {
	if len(id) < 16 {
		return p, false
	}
	run, err := strconv.ParseUint(id[:8], 16, 32)
	n, nerr := strconv.ParseUint(id[8:], 16, 64)
	return place{uint32(run), n}, err == nil && nerr == nil
}

func (p place) id() string { return id(p.run, p.n) }

// walk calls do with the requests of one file that may match a filter, from its end if backwards is set, until do
// returns false. Those of the process of end from its number on are left out. The error says what of these could not be
// read; the rest was told.
func (a *archive) walk(s segment, end place, backwards bool, f Filter, do func(*Entry) bool) (more bool, err error) {
	b, err := a.readAll(s)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // it was removed meanwhile, being the oldest
	}
	if err != nil {
		return true, fmt.Errorf("%s: %w", s.name, err)
	}
	var lower [][]byte // the lines as a filter looks at them
	if f.looks() {
		all := b
		if f.looksForText() {
			all = lowered(b)
		}
		if !f.mayBeIn(all) {
			return true, nil
		}
		lower = linesOf(all)
	}
	lines := linesOf(b)
	bad, first := 0, 0
	more = true
	for i := 0; i < len(lines) && more; i++ {
		at := i
		if backwards {
			at = len(lines) - 1 - i
		}
		if lower != nil && !f.mayMatch(lower[at]) {
			continue
		}
		var e Entry
		err := readEntry(lines[at], &e)
		p, ok := placeOf(e.ID)
		if err != nil || !ok {
			bad, first = bad+1, at+1
			continue
		}
		if p.run == end.run && p.n >= end.n {
			continue
		}
		more = do(&e)
	}
	if bad > 0 {
		err = fmt.Errorf("%s: %d damaged lines, such as line %d, are left out", s.name, bad, first)
	} else if len(b) > 0 && b[len(b)-1] != '\n' && s.run != end.run { // the process of end may be writing
		err = cutError(s.name)
	}
	return more, err
}

// cutError names a file that ends within a line: a crash cut its last request off.
type cutError string

// Error says what is missing.
func (e cutError) Error() string {
	return string(e) + ": its last request was not written whole, and is left out"
}

// damage returns what an error of walk says of the files, which is empty the second time that it is about the same end
// of one.
func (a *archive) damage(err error) []string {
	if err == nil {
		return nil
	}
	if name, ok := errors.AsType[cutError](err); ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.told[name] {
			return nil
		}
		if a.told == nil {
			a.told = map[cutError]bool{}
		}
		a.told[name] = true
	}
	return []string{err.Error()}
}

// list returns the requests before a place that a filter matches, as [Journal.List] does. The process that asks is the
// last one, whether it has a file or not.
func (a *archive) list(f Filter, end place, limit int, asks uint32) (list []Entry, next string, damage []string) {
	all, err := a.segments()
	if err != nil {
		return nil, "", []string{err.Error()}
	}
	from := len(all)
	for from > 0 && all[from-1].run != end.run {
		from-- // a later process
	}
	if from == 0 && end.run == asks {
		from = len(all)
	}
	last, decoded := end.id(), 0
	for i := from - 1; i >= 0; i-- {
		full, before := false, last
		more, err := a.walk(all[i], end, true, f, func(e *Entry) bool {
			decoded++
			if f.Match(e) {
				if len(list) == limit {
					full = true
					return false
				}
				list = append(list, *e)
			}
			last = e.ID
			return true
		})
		damage = append(damage, a.damage(err)...)
		if full || !more {
			return list, last, damage
		}
		if decoded >= perList && i > 0 && last != before {
			return list, last, damage
		}
	}
	return list, "", damage
}

// latest calls do with the requests before a place, newest first, until it returns false. What cannot be read is left
// out.
func (a *archive) latest(end place, do func(*Entry) bool) {
	all, _ := a.segments()
	for _, s := range slices.Backward(all) {
		if more, _ := a.walk(s, end, true, Filter{}, do); !more {
			return
		}
	}
}

// find returns a request by its id from the files. Lines are searched for the id before they are decoded.
func (a *archive) find(id string) (found Entry, ok bool) {
	p, ok := placeOf(id)
	all, err := a.segments()
	if !ok || err != nil {
		return found, false
	}
	mark := []byte(`"` + id + `"`)
	for _, s := range slices.Backward(all) {
		if s.run != p.run {
			continue
		}
		lines, _ := a.read(s) // what cannot be read has nothing to find
		for _, line := range lines {
			if bytes.Contains(line, mark) && readEntry(line, &found) == nil && found.ID == id {
				return found, true
			}
		}
	}
	return Entry{}, false
}

// run writes new requests to the files until ctx ends: once a second, and when wake says that much is new. Without a
// number of days it waits longer while many come, since most of them need not be kept.
func (a *archive) run(ctx context.Context, j *Journal) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	wake := j.wake
	if a.o.Days == 0 {
		wake = nil
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if a.o.Days == 0 && !a.due(j) {
				continue
			}
		case <-wake:
		}
		a.write(j)
	}
}

// due reports whether the last requests are to be written.
func (a *archive) due(j *Journal) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return j.Last()-a.last <= few || time.Since(a.wrote) >= lazy
}

// write writes the requests that were not written yet.
func (a *archive) write(j *Journal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list, last, lost := j.since(a.last)
	a.last = last
	if len(list) == 0 {
		return
	}
	a.wrote = time.Now()
	if a.o.Days == 0 {
		list, lost = list[max(0, len(list)-a.o.Last):], 0
	}
	err := errors.New("the disk is nearly full")
	if a.o.Full == nil || !a.o.Full() {
		err = a.append(j.run, list)
	}
	switch {
	case err != nil && !a.bad:
		a.log.Warn("requests are not kept", "dir", a.o.Dir, "error", err)
	case err == nil && lost > 0:
		a.log.Warn("requests are not kept: they came faster than they are written", "requests", lost)
	}
	a.bad = err != nil
}

// append adds requests to the present file, or to the next one when it is full or a day has begun (UTC).
func (a *archive) append(run uint32, list []Entry) error {
	day := time.Now().UTC().Format(dayForm)
	if a.file != nil && (a.size >= segmentSize || a.now.day != day) {
		a.close()
	}
	if a.file == nil {
		if err := a.begin(run, day); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := WriteJSONL(&b, slices.Values(list)); err != nil {
		return err
	}
	n, err := a.file.Write(b.Bytes())
	a.size += int64(n)
	if err != nil {
		a.close() // a line may have been cut off: it stays the last one
	}
	return err
}

// begin makes room for a file and creates it.
func (a *archive) begin(run uint32, day string) error {
	if err := os.MkdirAll(a.o.Dir, 0o700); err != nil {
		return err
	}
	all, err := a.prune()
	if err != nil {
		return err
	}
	seq := 1
	if len(all) > 0 {
		seq = all[len(all)-1].seq + 1
	}
	a.now = segment{fmt.Sprintf("%08d-%s-%08x.jsonl", seq, day, run), seq, day, run}
	a.size = 0
	a.file, err = os.OpenFile(filepath.Join(a.o.Dir, a.now.name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return err
}

// prune removes the files that are too old, or too many, and returns the others.
func (a *archive) prune() ([]segment, error) {
	all, err := a.segments()
	if err != nil {
		return nil, err
	}
	oldest := time.Now().UTC().AddDate(0, 0, -a.o.Days).Format(dayForm)
	room := a.o.MaxSize - segmentSize // for the file that begins
	rows := 0                         // in the files after this one
	for i, s := range slices.Backward(all) {
		info, err := os.Stat(filepath.Join(a.o.Dir, s.name))
		if err == nil {
			room -= info.Size()
		}
		ofDays := a.o.Days > 0 && s.day >= oldest
		ofLast := rows < a.o.Last && len(all)-i < maxFiles
		if rows < a.o.Last {
			lines, _ := a.read(s) // what cannot be read has none
			rows += len(lines)
		}
		if room >= 0 && (ofDays || ofLast) {
			continue
		}
		for _, s := range all[:i+1] {
			if err := os.Remove(filepath.Join(a.o.Dir, s.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		return all[i+1:], nil
	}
	return all, nil
}

// clear removes all files of requests. What was added up to the number last is not written afterwards.
func (a *archive) clear(last uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.close()
	a.last = max(a.last, last)
	all, err := a.segments()
	for _, s := range all {
		err = errors.Join(err, os.Remove(filepath.Join(a.o.Dir, s.name)))
	}
	return err
}

// close closes the present file. The caller holds mu.
func (a *archive) close() {
	if a.file != nil {
		_ = a.file.Close() // what was written is there
		a.file = nil
	}
}
