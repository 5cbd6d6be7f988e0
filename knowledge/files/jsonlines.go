package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
)

// maxLine is the longest line of JSON that is read, in bytes.
const maxLine = 32 << 20

var errLongLine = fmt.Errorf("longer than %d MiB", maxLine>>20)

// jsonRecord is a line of JSON. Other fields are no concern of ours.
type jsonRecord struct {
	ID    any    `json:"_id"` // text or a number
	URL   string `json:"url"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// parseRecord makes a document of a line of JSON.
func parseRecord(line []byte) (*index.Document, error) {
	var r jsonRecord
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte("\ufeff"))))
	decoder.UseNumber() // an id of twenty digits stays what it is
	if err := decoder.Decode(&r); err != nil {
		return nil, fmt.Errorf("not a JSON object with text fields: %w", err)
	}
	d := &index.Document{URL: r.URL, Title: strings.TrimSpace(r.Title), Kind: archive.KindFile, Markdown: []byte(r.Text)}
	switch id := r.ID.(type) {
	case nil:
	case string:
		if id != "" {
			d.URL = id
		}
	case json.Number:
		d.URL = id.String()
	default:
		return nil, errors.New(`"_id" is not a string or number`)
	}
	switch {
	case d.URL == "":
		return nil, errors.New(`no "_id" or "url"`)
	case strings.TrimSpace(r.Text) == "" && d.Title == "":
		return nil, errors.New(`no "text" or "title"`)
	case strings.TrimSpace(r.Text) == "":
		d.Markdown = []byte(d.Title)
	}
	return d, nil
}

// readLine returns the next line of a file of JSON lines; errLongLine stands for one over maxLine, of which nothing is
// kept.
func readLine(r *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLongLine
		}
		return line, nil
	}
}

// countLines returns how many JSON lines a file has, and reads it from the start again.
func countLines(in *os.File) (n int, err error) {
	buf := make([]byte, 256<<10)
	last := byte('\n')
	for {
		size, err := in.Read(buf)
		n += bytes.Count(buf[:size], []byte("\n"))
		if size > 0 {
			last = buf[size-1]
		}
		if err != nil {
			break
		}
	}
	if last != '\n' {
		n++
	}
	_, err = in.Seek(0, io.SeekStart)
	return n, err
}
