package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/page"
)

// Remask masks, in the requests that are kept in files, the secrets that [page.Mask] left in URLs when they were
// written. Nothing else may use the journal meanwhile.
func (j *Journal) Remask() error {
	if j.archive == nil {
		return nil
	}
	all, err := j.archive.segments()
	for _, s := range all {
		if ferr := j.archive.remask(s); ferr != nil {
			err = errors.Join(err, fmt.Errorf("mask the requests of %s: %w", s.name, ferr))
		}
	}
	return err
}

// remask writes a file of requests anew if newer rules about secrets mask something in it. Lines that cannot be read
// are left out.
func (a *archive) remask(s segment) error {
	lines, err := a.read(s)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	changed := false
	for _, line := range lines {
		var e Entry
		if readEntry(line, &e) != nil {
			continue
		}
		if e.remask() {
			changed = true
			if line, err = json.Marshal(&e); err != nil {
				return err
			}
		}
		b.Write(append(line, '\n'))
	}
	if !changed {
		return nil
	}
	return wholefile.Write(filepath.Join(a.o.Dir, s.name), b.Bytes(), 0o600)
}

// remask masks the URLs of an entry and reports whether that changed it. Sentences about the request name its URL.
func (e *Entry) remask() (changed bool) {
	before := e.URL
	if e.URL = page.MaskString(before); e.URL != before {
		changed = true
		for _, text := range []*string{&e.Error, &e.Why} {
			*text = strings.ReplaceAll(*text, before, e.URL)
		}
		for i := range e.Attempts {
			e.Attempts[i].Reason = strings.ReplaceAll(e.Attempts[i].Reason, before, e.URL)
		}
	}
	for _, f := range []*Fields{&e.Asked, &e.Answered} {
		if masked := f.remask(); masked != *f {
			*f, changed = masked, true
		}
	}
	return changed
}

// remask masks the URLs in the values of fields.
func (f Fields) remask() Fields {
	var b strings.Builder
	for line := range strings.Lines(string(f)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if strings.ContainsAny(value, "?@") {
			value = maskURLs(name, value)
		}
		b.WriteString(name + ": " + value + "\n")
	}
	return Fields(b.String())
}
