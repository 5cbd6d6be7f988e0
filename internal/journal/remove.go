package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/readthru/readthru/internal/wholefile"
)

// Remove forgets the requests that a filter matches, in memory and in files, and returns how many. Lines of files that
// may match and cannot be read go with them: nobody can say of what they tell. Requests that are not answered yet come
// afterwards.
func (j *Journal) Remove(f Filter) (int, error) {
	if a := j.archive; a != nil {
		a.mu.Lock() // nothing is written meanwhile
		defer a.mu.Unlock()
	}
	defer j.before.forget()
	gone := j.removeFromMemory(f)
	n := len(gone)
	if j.archive == nil {
		return n, nil
	}
	err := j.archive.removeLocked(f, func(p place) {
		if p.run != j.run || !gone[p.n] {
			n++
		}
	})
	return n, err
}

// removeFromMemory removes requests, and returns their numbers.
func (j *Journal) removeFromMemory(f Filter) map[uint64]bool {
	gone := map[uint64]bool{}
	for begin := uint64(1); ; {
		j.mu.Lock()
		begin = max(begin, j.first)
		end := min(begin+chunk, j.next)
		slots := j.slotsLocked(begin, end-1)
		j.mu.Unlock()
		if len(slots) == 0 {
			return gone
		}
		for i, s := range slots {
			if s.of == nil || !f.Match(s.of) {
				continue
			}
			n := begin + uint64(i)
			gone[n] = true
			j.mu.Lock()
			if n >= j.first {
				j.removeLocked(n)
			}
			j.mu.Unlock()
		}
		begin = end
	}
}

// removeLocked removes the requests that a filter matches from all files, and tells which. The caller holds mu.
func (a *archive) removeLocked(f Filter, tell func(place)) error {
	a.close()
	all, err := a.segments()
	for _, s := range all {
		err = errors.Join(err, a.removeFrom(s, f, tell))
	}
	return err
}

// removeFrom removes requests from one file, and the file when none are left.
func (a *archive) removeFrom(s segment, f Filter, tell func(place)) error {
	all, err := a.readAll(s)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	looked := lowered(all)
	if len(all) == 0 || !f.mayBeIn(looked) {
		return nil
	}
	lower := linesOf(looked)
	var rest bytes.Buffer
	changed := all[len(all)-1] != '\n' // a line that was not written whole
	for i, line := range linesOf(all) {
		if !f.mayMatch(lower[i]) {
			rest.Write(line)
			rest.WriteByte('\n')
			continue
		}
		var e Entry
		err := readEntry(line, &e)
		p, ok := placeOf(e.ID)
		switch {
		case err != nil || !ok:
			changed = true
		case f.Match(&e):
			changed = true
			tell(p)
		default:
			rest.Write(line)
			rest.WriteByte('\n')
		}
	}
	name := filepath.Join(a.o.Dir, s.name)
	switch {
	case !changed:
		return nil
	case rest.Len() == 0:
		return os.Remove(name)
	}
	return wholefile.Write(name, rest.Bytes(), 0o600)
}
